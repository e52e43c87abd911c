/**
 * Programs for several devices on the GPUs of a host: one process, one thread, NCCL between them.
 */
package dev.warpwright.parallel.gpu;
