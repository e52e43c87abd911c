package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

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

  /** And of two chained matmuls that take turns: rows, half rows, tile by tile. */
  public static final List<String> CHAINED =
      List.of(
          "rows:1", "rows:2", "rows:4", "rows:8", "halves", "mixed:1", "mixed:2", "mixed:4",
          "mixed:8");

  private TileOrders() {}

  /** The names of orders that a problem can be filled with. */
  public static List<String> names(TileProblem problem) {
    return problem.chained() == 0
        ? READY_MADE
        : Stream.concat(CHAINED.stream(), READY_MADE.stream()).toList();
  }

  /**
   * Checks a name.
   *
   * @throws UserError if it is none of {@link #CHAINED}'s forms or of {@link BlockOrder#parse}
   */
  public static void check(String name, boolean chained) {
    if (!ChainOrders.isOne(name)) {
      var unused = BlockOrder.parse(name);
    } else if (!chained) {
      throw new UserError("order=" + name + " is one of two chained matmuls; give chained=");
    }
  }

  /**
   * The order of a name, {@link #settled}.
   *
   * @throws UserError if there is no such order of this problem
   */
  public static List<WorkItem> of(TileProblem problem, String name) {
    return settled(
        problem,
        ChainOrders.isOne(name)
            ? ChainOrders.of(problem, name)
            : of(problem, BlockOrder.parse(name)));
  }

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

  /**
   * An order for several tiles at a time: those of the second result that would have to wait for
   * their own step come later.
   */
  public static List<WorkItem> settled(TileProblem problem, List<WorkItem> order) {
    if (problem.atOnce() == 1 || problem.chained() == 0) {
      return order;
    }
    int[] done = new int[problem.rows()];
    List<WorkItem> settled = new ArrayList<>();
    List<WorkItem> waiting = new ArrayList<>();
    Iterator<WorkItem> rest = order.iterator();
    while (settled.size() < order.size()) {
      List<WorkItem> step = new ArrayList<>();
      List<WorkItem> still = new ArrayList<>();
      for (WorkItem item : waiting) {
        boolean ready = step.size() < problem.atOnce() && done[item.row()] == problem.columns();
        (ready ? step : still).add(item);
      }
      while (step.size() < problem.atOnce() && rest.hasNext()) {
        WorkItem item = rest.next();
        boolean ready = item.gemm() == 0 || done[item.row()] == problem.columns();
        (ready ? step : still).add(item);
      }
      // Nothing else is left: such an order is refused where it is used.
      while (step.size() < problem.atOnce() && !still.isEmpty()) {
        step.add(still.removeFirst());
      }
      for (WorkItem item : step) {
        done[item.row()] += item.gemm() == 0 ? 1 : 0;
      }
      waiting = still;
      settled.addAll(step);
    }
    return settled;
  }
}
