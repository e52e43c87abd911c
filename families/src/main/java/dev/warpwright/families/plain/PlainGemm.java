package dev.warpwright.families.plain;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.List;
import java.util.Locale;

/**
 * Products of one thread for each element: of every type, size, layout and alignment, sums of no
 * products too. Slow, and what there is where nothing faster fits.
 */
public final class PlainGemm {
  private static final int MOST_THREADS = 1024;

  private PlainGemm() {}

  /**
   * Schedules and lowers.
   *
   * @param rows of the result that a block computes
   * @param columns of it
   * @throws UserError if a block of so many threads does not exist
   */
  public static ScheduledGemm schedule(GemmWorkload workload, int rows, int columns) {
    if (rows < 1 || columns < 1 || rows * columns > MOST_THREADS || rows * columns % 32 != 0) {
      throw new UserError(String.format(Locale.ROOT, "a block of %d x %d threads", rows, columns));
    }
    // A thread that adds up in f32 is more precise, and no slower.
    PrimFunc func =
        (workload.precision() == Precision.F16_ACCUMULATORS
                ? workload.with(Precision.F16)
                : workload)
            .func();
    Schedule s = new Schedule(func);
    BlockRef sums = s.block("acc");
    List<LoopRef> loops = s.loops(s.block("C"));
    Schedule.Halves m = s.split(loops.get(loops.size() - 2), rows);
    Schedule.Halves n = s.split(loops.getLast(), columns);
    s.reorder(m.outer(), n.outer(), m.inner(), n.inner());
    s.computeAt(sums, n.inner());
    s.setScope(s.buffer("acc"), Scope.LOCAL);
    s.compactAll();
    if (workload.batch().isMany()) {
      s.bind(loops.getFirst(), ThreadAxis.BLOCK_Z);
    }
    s.bind(m.outer(), ThreadAxis.BLOCK_Y);
    s.bind(n.outer(), ThreadAxis.BLOCK_X);
    s.bind(m.inner(), ThreadAxis.THREAD_Y);
    s.bind(n.inner(), ThreadAxis.THREAD_X);
    workload.description().forEach(s::annotate);
    return new ScheduledGemm(func, s.trace(), s.func(), SimtLowering.lower(s.func()), List.of());
  }
}
