package dev.warpwright.families;

import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.WorkDivision;
import dev.warpwright.ir.WorkList;
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

  /** Whether a kernel reads its tiles from a table; it does not if it takes them row by row. */
  static boolean hasTable(Kernel kernel) {
    return kernel.buffers().stream().anyMatch(buffer -> buffer.name().equals("order"));
  }

  /**
   * Contents of the parameter {@code order}: {@code m << 16 | n} in units of a cluster's tiles, or
   * what {@link WorkList#table} makes of divided work.
   *
   * @param steps of a tile
   * @param workers clusters that run at the same time
   */
  static List<Integer> table(
      BlockOrder order, WorkDivision division, long rows, long columns, long steps, long workers) {
    if (division instanceof WorkDivision.Whole) {
      return order.tiles(Math.toIntExact(rows), Math.toIntExact(columns)).stream()
          .map(tile -> tile.m() << 16 | tile.n())
          .toList();
    }
    return WorkList.of(
            division,
            order,
            Math.toIntExact(rows),
            Math.toIntExact(columns),
            Math.toIntExact(steps),
            Math.toIntExact(workers))
        .table();
  }
}
