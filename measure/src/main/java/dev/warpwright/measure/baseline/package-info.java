/**
 * What a kernel is compared with: cuBLAS and cuBLASLt, with the algorithm that is fastest for a
 * GEMM.
 */
package dev.warpwright.measure.baseline;
