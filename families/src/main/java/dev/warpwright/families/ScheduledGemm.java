package dev.warpwright.families;

import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.trace.Trace;
import java.util.List;

/**
 * A product, scheduled and lowered.
 *
 * @param func the computation
 * @param trace the schedule's steps
 * @param tiles the tile program that they make of it
 * @param kernel the kernel for this shape; its launch is in its bindings
 * @param table contents of the kernel's parameter {@code order}; empty if it has none
 */
public record ScheduledGemm(
    PrimFunc func, Trace trace, PrimFunc tiles, Kernel kernel, List<Integer> table) {
  public ScheduledGemm {
    table = List.copyOf(table);
  }

  /** Entries of an order table, {@code m << 16 | n} in units of a cluster's tiles. */
  static List<Integer> table(BlockOrder order, long rows, long columns) {
    return order.tiles(Math.toIntExact(rows), Math.toIntExact(columns)).stream()
        .map(tile -> tile.m() << 16 | tile.n())
        .toList();
  }
}
