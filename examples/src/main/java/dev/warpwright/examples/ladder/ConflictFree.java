package dev.warpwright.examples.ladder;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.Schedule;

/** No two threads of a warp wait for the same bank of shared memory. */
final class ConflictFree implements Rung {
  @Override
  public String name() {
    return "conflict-free";
  }

  @Override
  public String change() {
    return "rows of the transposed tile padded by 4 elements, and groups of a thread 64 apart: no bank"
        + " conflicts";
  }

  @Override
  public Schedule schedule(PrimFunc matmul) {
    Schedule s = new Schedule(matmul);
    Vectorized.build(s, new Square(128, 128, 8, 2, 2, true));
    s.storageAlign(s.buffer("A_shared"), 0, 32, 4);
    return s;
  }
}
