package dev.warpwright.perf.order;

import dev.warpwright.ir.order.BlockOrder;
import java.util.ArrayList;
import java.util.List;

/** Ready-made orders of a problem's tiles. */
public final class TileOrders {
  /** Names of orders worth looking at beside each other, for {@link BlockOrder#parse}. */
  public static final List<String> READY_MADE =
      List.of(
          "row",
          "column",
          "serpentine",
          "grouped:2",
          "grouped:4",
          "grouped:8",
          "morton",
          "hilbert",
          "nested:2",
          "nested:4");

  private TileOrders() {}

  /** All tiles of the first result in this order, then those of the second, if there is one. */
  public static List<WorkItem> of(TileProblem problem, BlockOrder order) {
    List<WorkItem> items = new ArrayList<>();
    order
        .tiles(problem.rows(), problem.columns())
        .forEach(tile -> items.add(new WorkItem(0, tile.m(), tile.n())));
    if (problem.chained() > 0) {
      order
          .tiles(problem.rows(), problem.chained())
          .forEach(tile -> items.add(new WorkItem(1, tile.m(), tile.n())));
    }
    return items;
  }
}
