package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;

/** The next tiles are loaded to registers while a step computes. */
final class DoubleBuffering implements Rung {
  private static final Tiling TILING = new Tiling(128, 128, 16, 64, 64, 4, 2);

  /** Elements of 8 bytes take twice the registers, so a thread has fewer. */
  private static final Tiling IN_F64 = new Tiling(64, 64, 8, 32, 32, 4, 1);

  @Override
  public String name() {
    return "double-buffering";
  }

  @Override
  public String change() {
    return "two tiles in shared memory: the next one is loaded while one is used; one barrier a"
        + " step";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Halves k = WarpTiles.build(s, Steps.dtype(matmul) == DType.F64 ? IN_F64 : TILING);
    s.pipeline(k.outer(), 2);
    s.pipeline(k.inner(), 2);
    return s;
  }
}
