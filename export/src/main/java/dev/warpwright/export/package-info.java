/** Kernels as sources that compile with CUDA's compiler alone. */
package dev.warpwright.export;
