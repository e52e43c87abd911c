/** Tile programs that {@link dev.warpwright.lower.flow.Lowering} makes kernels of. */
@NullMarked
package dev.warpwright.examples.lowering;

import org.jspecify.annotations.NullMarked;
