/** Tile programs that {@link dev.warpwright.lower.flow.Lowering} makes kernels of. */
package dev.warpwright.examples.lowering;
