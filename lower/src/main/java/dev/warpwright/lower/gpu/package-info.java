/**
 * Lowering of tile programs to grid kernels. {@link dev.warpwright.lower.gpu.GpuLowering} states
 * the order of the passes and why each stands where it stands.
 */
@NullMarked
package dev.warpwright.lower.gpu;

import org.jspecify.annotations.NullMarked;
