package dev.warpwright.families;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.trace.Trace;
import dev.warpwright.target.GpuTarget;
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

  /**
   * Lowers a schedule of tile statements for one product, whose result is {@code C}. Tiles are
   * whole.
   *
   * @param func the computation
   */
  public static ScheduledGemm of(PrimFunc func, Schedule schedule, GpuTarget target) {
    PrimFunc tiles = schedule.func();
    Kernel kernel = Lowering.lower(tiles, target);
    return new ScheduledGemm(
        func, schedule.trace(), tiles, kernel, hasTable(kernel) ? table(kernel) : List.of());
  }

  /** The table of a kernel's attributes. */
  private static List<Integer> table(Kernel kernel) {
    Attrs attrs = kernel.attrs();
    Buffer result =
        kernel.buffers().stream().filter(b -> b.name().equals("C")).findFirst().orElseThrow();
    return table(
        BlockOrder.parse(String.valueOf(attrs.getString("order"))),
        new WorkDivision.Whole(),
        tiles(result.extent(0), attrs, "M"),
        tiles(result.extent(1), attrs, "N"),
        1,
        1);
  }

  /** Tiles of clusters along a dimension. */
  private static long tiles(long extent, Attrs attrs, String dimension) {
    long tile = attrs.getLong("tile" + dimension, 1) * attrs.getLong("cluster" + dimension, 1);
    return Math.ceilDiv(extent, tile);
  }

  /** Whether a kernel reads its tiles from a table; it does not if it takes them row by row. */
  public static boolean hasTable(Kernel kernel) {
    return kernel.buffers().stream().anyMatch(buffer -> buffer.name().equals("order"));
  }

  /**
   * Contents of the parameter {@code order}: {@code m << 16 | n} in units of a cluster's tiles, or
   * what {@link WorkList#table} makes of divided work.
   *
   * @param steps of a tile
   * @param workers clusters that run at the same time
   */
  public static List<Integer> table(
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
