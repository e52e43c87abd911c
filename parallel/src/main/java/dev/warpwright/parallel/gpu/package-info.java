/**
 * Programs for several devices on the GPUs of a host: one process, one thread, NCCL between them.
 */
@NullMarked
package dev.warpwright.parallel.gpu;

import org.jspecify.annotations.NullMarked;
