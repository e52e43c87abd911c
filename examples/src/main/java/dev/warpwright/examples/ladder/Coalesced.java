package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.Schedule.Halves;
import java.util.List;

/** One thread for one element of the result, neighbouring threads on neighbouring columns. */
final class Coalesced implements Rung {
  @Override
  public String name() {
    return "coalesced";
  }

  @Override
  public String change() {
    return "neighbouring threads on neighbouring columns: a warp reads B and writes C in whole"
        + " lines";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    BlockRef product = s.block("C");
    List<LoopRef> loops = s.loops(s.cacheWrite(product, Scope.LOCAL).copy());
    Halves i = s.split(loops.get(0), 32);
    Halves j = s.split(loops.get(1), 32);
    s.reorder(i.outer(), j.outer(), i.inner(), j.inner());
    s.computeAt(product, j.inner());
    s.compactAll();
    s.bind(i.outer(), ThreadAxis.BLOCK_Y);
    s.bind(j.outer(), ThreadAxis.BLOCK_X);
    s.bind(i.inner(), ThreadAxis.THREAD_Y);
    s.bind(j.inner(), ThreadAxis.THREAD_X);
    s.decomposeReduction(product, s.loops(product).getLast());
    return s;
  }
}
