/**
 * What a kernel is compared with: cuBLAS and cuBLASLt, with the algorithm that is fastest for a
 * GEMM.
 */
@NullMarked
package dev.warpwright.measure.baseline;

import org.jspecify.annotations.NullMarked;
