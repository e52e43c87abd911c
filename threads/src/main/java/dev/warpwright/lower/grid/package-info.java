/**
 * Grids that are one: {@link dev.warpwright.lower.grid.FusedProgram} takes a loop over the work of
 * two grids apart, {@link dev.warpwright.lower.grid.FusedGemms} makes it one loop over items, and
 * {@link dev.warpwright.lower.grid.TicketLoops} draws them. What items wait for stands in {@link
 * dev.warpwright.lower.grid.WorkTickets} (counters) and {@link dev.warpwright.lower.grid.TileWaits}
 * (single tiles), barriers of a block in {@link dev.warpwright.lower.grid.ItemBarriers}; {@link
 * dev.warpwright.lower.grid.TrustedTables} takes bounds from what a table holds.
 */
package dev.warpwright.lower.grid;
