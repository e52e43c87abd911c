package dev.warpwright.sim;

import dev.warpwright.ir.Stmt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One block in execution. */
final class BlockRun {
  private final Context context;
  private final long number;
  private final Warp[] warps;
  private long interval;

  /** The number is the block's linear index. */
  BlockRun(Context context, long number, Warp[] warps) {
    this.context = context;
    this.number = number;
    this.warps = warps;
    stamp();
  }

  private void stamp() {
    for (Warp w : warps) {
      for (Frame f : w.lanes) {
        f.stamp = Shadow.stamp(number, interval, w.index);
      }
    }
  }

  boolean finished() {
    for (Warp w : warps) {
      if (!w.finished()) {
        return false;
      }
    }
    return true;
  }

  void addRunnable(List<Warp> runnable) {
    for (Warp w : warps) {
      if (w.runnable()) {
        runnable.add(w);
      }
    }
  }

  /**
   * Lets the warps go on if all of them wait at one barrier.
   *
   * @throws SimulationError if those that wait can never go on
   */
  void releaseBarrier() {
    Map<Stmt, List<Integer>> waiting = new LinkedHashMap<>();
    List<Integer> finished = new ArrayList<>();
    for (Warp w : warps) {
      if (w.runnable()) {
        return;
      }
      if (w.waiting == null) {
        finished.add(w.index);
      } else {
        waiting.computeIfAbsent(w.waiting, key -> new ArrayList<>()).add(w.index);
      }
    }
    if (waiting.isEmpty()) {
      return;
    }
    if (waiting.size() > 1 || !finished.isEmpty()) {
      throw stuck(waiting, finished);
    }
    interval++;
    stamp();
    for (Warp w : warps) {
      w.waiting = null;
    }
  }

  private SimulationError stuck(Map<Stmt, List<Integer>> waiting, List<Integer> finished) {
    StringBuilder text = new StringBuilder("not all warps of the block arrive: ");
    waiting.forEach(
        (barrier, who) ->
            text.append("warps ")
                .append(who)
                .append(" wait at ")
                .append(place(barrier))
                .append("; "));
    text.append(
        finished.isEmpty() ? "these are different barriers" : "warps " + finished + " have ended");
    Frame first = warps[waiting.values().iterator().next().getFirst()].lanes[0];
    return context.fault(
        Finding.Kind.BARRIER, waiting.keySet().iterator().next(), first, "", text.toString());
  }

  private String place(Stmt barrier) {
    return "'" + context.source().excerpt(barrier) + "'";
  }
}
