package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.Schedule;

/** One step of the ladder: a way to compute the matrix product on a GPU. */
public interface Rung {
  /** As it is asked for: {@code warp-tiles}. */
  String name();

  /** What the rung does beyond the one before it, in one line. */
  String change();

  /**
   * The schedule.
   *
   * @param matmul as {@link Ladder#matmul} makes it
   */
  Schedule schedule(PrimFunc matmul);
}
