package dev.warpwright.perf.order;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The accesses that an order makes, in flat arrays: {@code blocks[i]} is used in moment {@code
 * moment[i]}, is brought in if it is not there and {@code fetched[i]}, and is written if {@code
 * written[i]}; step s ends before access {@code stepEnd[s]}. Items of {@code adds} find a partial
 * sum, which they read and write.
 */
record AccessTrace(
    int[] blocks, int[] moment, boolean[] fetched, boolean[] written, int[] stepEnd, BitSet adds) {
  /** The accesses of an order that has been checked. */
  static AccessTrace of(TileProblem problem, List<WorkItem> order) {
    int total = 0;
    for (WorkItem item : order) {
      total += 2 * problem.moments(item) + (problem.cachedResults() ? 1 : 0);
    }
    var builder = new Builder(total);
    int[] stepEnd = new int[Math.ceilDiv(order.size(), problem.atOnce())];
    var progress = new Progress(problem);
    var adds = new BitSet(order.size());
    for (int first = 0; first < order.size(); first += problem.atOnce()) {
      List<WorkItem> step = order.subList(first, Math.min(order.size(), first + problem.atOnce()));
      int longest = 0;
      for (WorkItem item : step) {
        longest = Math.max(longest, problem.moments(item));
      }
      for (int k = 0; k < longest; k++) {
        for (WorkItem item : step) {
          if (k < problem.moments(item)) {
            builder.add(problem.left(item, k), true, false);
            builder.add(problem.right(item, k), true, false);
          }
        }
        builder.nextMoment();
      }
      for (int i = 0; i < step.size(); i++) {
        adds.set(first + i, progress.adds(step.get(i)));
        if (problem.cachedResults()) {
          builder.add(problem.result(step.get(i)), adds.get(first + i), true);
          builder.nextMoment();
        }
      }
      progress.end(step);
      stepEnd[first / problem.atOnce()] = builder.size;
    }
    return new AccessTrace(
        builder.blocks, builder.moment, builder.fetched, builder.written, stepEnd, adds);
  }

  /** For each access, the moment of the next use of its block in a later moment; else MAX_VALUE. */
  int[] nextUses(int blockCount) {
    int[] next = new int[blocks.length];
    int[] soonest = new int[blockCount];
    int[] after = new int[blockCount];
    Arrays.fill(soonest, Integer.MAX_VALUE);
    Arrays.fill(after, Integer.MAX_VALUE);
    for (int i = blocks.length - 1; i >= 0; i--) {
      int block = blocks[i];
      if (soonest[block] != moment[i]) {
        after[block] = soonest[block];
        soonest[block] = moment[i];
      }
      next[i] = after[block];
    }
    return next;
  }

  private static final class Builder {
    private final int[] blocks;
    private final int[] moment;
    private final boolean[] fetched;
    private final boolean[] written;
    private int size;
    private int moments;

    Builder(int total) {
      blocks = new int[total];
      moment = new int[total];
      fetched = new boolean[total];
      written = new boolean[total];
    }

    void add(int block, boolean fetch, boolean write) {
      blocks[size] = block;
      moment[size] = moments;
      fetched[size] = fetch;
      written[size] = write;
      size++;
    }

    void nextMoment() {
      moments++;
    }
  }
}
