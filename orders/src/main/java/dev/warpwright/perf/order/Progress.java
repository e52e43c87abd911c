package dev.warpwright.perf.order;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is done while an order is gone through, step by step: of the first result how many tiles of
 * each row and part, of the second which tiles have a partial sum already.
 */
final class Progress {
  private final TileProblem problem;
  private final int[] done;
  private final BitSet begun;
  private final BitSet inStep = new BitSet();

  Progress(TileProblem problem) {
    this.problem = problem;
    this.done = new int[problem.rows() * problem.parts()];
    this.begun = new BitSet(problem.rows() * problem.chained());
  }

  /** Why an item may not be in the step that comes next, as a clause; null if it may. */
  @Nullable String missing(WorkItem item) {
    if (item.gemm() == 0) {
      return null;
    }
    if (done[group(item.row(), item.part())] < problem.moments(item)) {
      return problem.parts() == 1
          ? "comes before row " + item.row() + " of matmul 0 is done"
          : "comes before part " + item.part() + " of row " + item.row() + " of matmul 0 is done";
    }
    return inStep.get(tile(item))
        ? "comes in the same step as another part of its tile, to whose sum it adds"
        : null;
  }

  /** Whether an item may be in the step that comes next. */
  boolean isReady(WorkItem item) {
    return missing(item) == null;
  }

  /** Whether an item finds a partial sum of its tile, to which it adds, instead of the first. */
  boolean adds(WorkItem item) {
    return item.gemm() == 1 && begun.get(tile(item));
  }

  /** Puts an item into the step that comes next. */
  void take(WorkItem item) {
    if (item.gemm() == 1) {
      inStep.set(tile(item));
    }
  }

  /** Ends a step. */
  void end(List<WorkItem> step) {
    for (WorkItem item : step) {
      if (item.gemm() == 0) {
        done[group(item.row(), problem.partOf(item.column()))]++;
      } else {
        begun.set(tile(item));
      }
    }
    inStep.clear();
  }

  private int group(int row, int part) {
    return row * problem.parts() + part;
  }

  private int tile(WorkItem item) {
    return item.row() * problem.chained() + item.column();
  }
}
