/**
 * Runs a kernel of Kernel text on a GPU, verified, beside cuBLAS: {@link
 * dev.warpwright.measure.KernelBench}.
 *
 * <p>What a kernel computes and how its parameters are filled is said by its attributes, see {@link
 * dev.warpwright.workload.kernel.BoundWorkload}. Everything up to the first launch works without a
 * GPU.
 */
package dev.warpwright.measure;
