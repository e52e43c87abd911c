package dev.warpwright.perf.order;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.order.BlockOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
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

  /** And of two chained matmuls that take turns: rows, half rows, tile by tile, partial sums. */
  public static final List<String> CHAINED =
      List.of(
          "rows:1",
          "rows:2",
          "rows:4",
          "rows:8",
          "halves",
          "mixed:1",
          "mixed:2",
          "mixed:4",
          "mixed:8",
          "partial:2",
          "partial:4",
          "partial:8",
          "partial:4:4",
          "partial:8:8");

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

  /** The problem of which a name is an order: with as many parts as the name says, else one. */
  public static TileProblem problem(TileProblem problem, String name) {
    return problem.inParts(problem.chained() == 0 ? 1 : ChainOrders.parts(problem, name));
  }

  /**
   * The order of a name, {@link #settled}.
   *
   * @param problem as {@link #problem} gives it
   * @throws UserError if there is no such order of this problem
   */
  public static List<WorkItem> of(TileProblem problem, String name) {
    if (!problem.equals(problem(problem, name))) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "order=%s: the second matmul's K is in %d parts here",
              name,
              problem.parts()));
    }
    return settled(
        problem,
        ChainOrders.isOne(name)
            ? ChainOrders.of(problem, name)
            : of(problem, BlockOrder.parse(name)));
  }

  /** In how many parts the second matmul's K is in an order that has all of them. */
  public static int parts(List<WorkItem> order) {
    return 1 + order.stream().mapToInt(WorkItem::part).max().orElse(0);
  }

  /**
   * All tiles of the first result in this order, then those of the second, if there is one, each
   * with all of its parts.
   */
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
    return inParts(problem, items);
  }

  /**
   * All parts in place of each tile of the second result: one after the other, or where several
   * tiles run at a time, those of a run of tiles part by part, as no two of a tile run together.
   */
  static List<WorkItem> inParts(TileProblem problem, List<WorkItem> whole) {
    if (problem.parts() == 1) {
      return whole;
    }
    List<WorkItem> items = new ArrayList<>(problem.items());
    for (int begin = 0, end; begin < whole.size(); begin = end) {
      end = begin + 1;
      if (whole.get(begin).gemm() == 0) {
        items.add(whole.get(begin));
        continue;
      }
      while (problem.atOnce() > 1 && end < whole.size() && whole.get(end).gemm() == 1) {
        end++;
      }
      for (int part = 0; part < problem.parts(); part++) {
        for (WorkItem item : whole.subList(begin, end)) {
          items.add(new WorkItem(1, item.row(), item.column(), part));
        }
      }
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
    var progress = new Progress(problem);
    List<WorkItem> settled = new ArrayList<>();
    List<WorkItem> waiting = new ArrayList<>();
    Iterator<WorkItem> rest = order.iterator();
    while (settled.size() < order.size()) {
      List<WorkItem> step = new ArrayList<>();
      List<WorkItem> still = new ArrayList<>();
      for (WorkItem item : waiting) {
        take(item, step.size() < problem.atOnce(), progress, step, still);
      }
      while (step.size() < problem.atOnce() && rest.hasNext()) {
        take(rest.next(), true, progress, step, still);
      }
      // Nothing else is left: such an order is refused where it is used.
      while (step.size() < problem.atOnce() && !still.isEmpty()) {
        step.add(still.removeFirst());
      }
      progress.end(step);
      waiting = still;
      settled.addAll(step);
    }
    return settled;
  }

  private static void take(
      WorkItem item, boolean room, Progress progress, List<WorkItem> step, List<WorkItem> still) {
    if (room && progress.isReady(item)) {
      progress.take(item);
      step.add(item);
    } else {
      still.add(item);
    }
  }
}
