/** Kernels as sources that compile with CUDA's compiler alone. */
@NullMarked
package dev.warpwright.export;

import org.jspecify.annotations.NullMarked;
