/** NCCL, NVIDIA's library of sums over GPUs, called from Java. */
package dev.warpwright.parallel.nccl;
