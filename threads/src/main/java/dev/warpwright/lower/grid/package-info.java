/**
 * Grids that are one: {@link dev.warpwright.lower.grid.FusedProgram} takes a loop over the work of
 * two grids apart, {@link dev.warpwright.lower.grid.FusedGemms} makes it one loop over items, and
 * {@link dev.warpwright.lower.grid.TicketLoops} draws them.
 */
package dev.warpwright.lower.grid;
