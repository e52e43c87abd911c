package dev.warpwright.families;

import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;

/** Steps of schedules that share loops out to the threads of a block. */
public final class ThreadLoops {
  private ThreadLoops() {}

  /** Loops made one, the first outermost. */
  public static LoopRef fuse(Schedule s, List<LoopRef> loops) {
    LoopRef fused = loops.getFirst();
    for (LoopRef loop : loops.subList(1, loops.size())) {
      fused = s.fuse(fused, loop);
    }
    return fused;
  }

  /**
   * Lets all threads of a block do what a block does for each element together: neighbouring
   * threads neighbouring elements in the order of the given loops, {@code lanes} elements of the
   * last loop in one access.
   */
  public static void together(Schedule s, List<LoopRef> loops, long threads, long lanes) {
    List<LoopRef> order = new ArrayList<>(loops);
    if (lanes > 1) {
      Schedule.Halves last = s.split(order.removeLast(), lanes);
      order.add(last.outer());
      order.add(last.inner());
    }
    s.reorder(order);
    LoopRef vector = lanes > 1 ? order.removeLast() : null;
    Schedule.Halves rounds = s.split(fuse(s, order), threads);
    s.reorder(rounds.inner(), rounds.outer());
    s.bind(rounds.inner(), ThreadAxis.THREAD_X);
    s.unroll(rounds.outer());
    if (vector != null) {
      s.vectorize(vector);
    }
  }

  /** Reads what a thread keeps in registers by vectors of neighbouring elements. */
  public static void vectors(Schedule s, BlockRef fragment, long lanes) {
    List<LoopRef> loops = s.loops(fragment);
    LoopRef last = loops.getLast();
    if (lanes == 1) {
      s.unroll(last);
      return;
    }
    LoopRef groups = loops.get(loops.size() - 2);
    if (s.extent(last).orElse(0) != lanes) {
      Schedule.Halves halves = s.split(last, lanes);
      groups = halves.outer();
      last = halves.inner();
    }
    s.unroll(groups);
    s.vectorize(last);
  }
}
