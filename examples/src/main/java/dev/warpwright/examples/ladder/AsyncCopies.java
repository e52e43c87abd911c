package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.simt.Serpentine;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** Tiles are copied several steps ahead, past the registers. */
final class AsyncCopies implements Rung {
  private static final Tiling TILING = new Tiling(128, 256, 8, 128, 32, 8, 1);
  private static final Tiling IN_F64 = new Tiling(64, 64, 8, 32, 32, 4, 1);
  private static final int STAGES = 4;

  @Override
  public String name() {
    return "async-copies";
  }

  @Override
  public String change() {
    return "copies to shared memory by cp.async, three steps ahead, without registers on the way";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Halves k = WarpTiles.build(s, Steps.dtype(matmul) == DType.F64 ? IN_F64 : TILING);
    s.pipeline(k.outer(), STAGES);
    s.annotate(k.outer(), "async", 1L);
    // Every slot has its own code, in which its number is a constant.
    s.annotate(k.outer(), "unroll", (long) STAGES);
    s.pipeline(k.inner(), 2);
    List<LoopRef> loops = s.loops(s.block("C"));
    s.annotate(loops.get(loops.indexOf(k.inner()) + 2), Serpentine.ATTRIBUTE, 1L);
    return s;
  }
}
