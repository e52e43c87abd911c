/**
 * Grids that are one: {@link dev.warpwright.lower.grid.MergedProgram} takes a loop over the work of
 * two grids apart, {@link dev.warpwright.lower.grid.MergedGrids} puts the kernels of both together.
 */
@NullMarked
package dev.warpwright.lower.grid;

import org.jspecify.annotations.NullMarked;
