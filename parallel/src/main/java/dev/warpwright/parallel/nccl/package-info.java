/** NCCL, NVIDIA's library of sums over GPUs, called from Java. */
@NullMarked
package dev.warpwright.parallel.nccl;

import org.jspecify.annotations.NullMarked;
