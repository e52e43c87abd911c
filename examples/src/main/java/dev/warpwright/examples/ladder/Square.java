package dev.warpwright.examples.ladder;

import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/**
 * How the threads of a block share a tile of the result: each owns groups of four neighbouring rows
 * and columns.
 *
 * @param m rows of the tile
 * @param n columns of the tile
 * @param k depth of a step
 * @param groupsM groups of rows of a thread
 * @param groupsN groups of columns of a thread
 * @param apart whether a thread's groups are spread evenly over the tile, or beside each other
 */
record Square(long m, long n, long k, long groupsM, long groupsN, boolean apart) {
  /** Elements of a group: one access of 16 bytes. */
  static final long RUN = 4;

  long threads() {
    return m * n / (groupsM * groupsN * RUN * RUN);
  }

  /**
   * Gives each thread its part of a tile; its loops: groups and their elements, of i, then of j.
   */
  List<LoopRef> bind(Schedule s, LoopRef i, LoopRef j) {
    Part rows = part(s, i, m / groupsM, groupsM);
    Part columns = part(s, j, n / groupsN, groupsN);
    s.reorder(rows.lane, columns.lane, rows.group, rows.element, columns.group, columns.element);
    s.bind(s.fuse(rows.lane, columns.lane), ThreadAxis.THREAD_X);
    s.unroll(rows.group);
    s.unroll(rows.element);
    s.unroll(columns.group);
    return List.of(rows.group, rows.element, columns.group, columns.element);
  }

  /** Loops over the threads, over the groups of one, and over the elements of a group. */
  private record Part(LoopRef lane, LoopRef group, LoopRef element) {}

  private Part part(Schedule s, LoopRef loop, long distance, long groups) {
    Halves outer = s.split(loop, apart ? distance : groups * RUN);
    Halves inner = s.split(outer.inner(), RUN);
    return apart
        ? new Part(inner.outer(), outer.outer(), inner.inner())
        : new Part(outer.outer(), inner.outer(), inner.inner());
  }
}
