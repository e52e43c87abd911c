package dev.warpwright.cli.program;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Scope;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Rejected;
import java.util.ArrayList;
import java.util.List;

/** A way to schedule any function of some kind, with decisions left open. */
interface FunctionSketch {
  /** A word that tells it from the others. */
  String name();

  /**
   * Schedules.
   *
   * @throws Rejected if the function is not of that kind, or what was decided does not fit
   * @throws ScheduleError if a primitive refuses
   */
  Schedule schedule(PrimFunc function, Decisions decisions);

  /** Puts what is computed element by element where it is read, wherever that is possible. */
  static void inline(Schedule s) {
    for (BlockRef block : s.blocks()) {
      try {
        s.computeInline(block);
      } catch (ScheduleError e) {
        // A result, a sum, or read by what nothing is put into: it stays.
      }
    }
  }

  /** What a sketch of one kernel computes, and where its sums go. */
  record Parts(List<FunctionBlocks.Entry> inner, BlockRef result) {
    /** Sums of the result and all that nobody else sees lie in registers. */
    static Parts inRegisters(Schedule s, FunctionBlocks blocks) {
      List<FunctionBlocks.Entry> inner = new ArrayList<>(blocks.blocks());
      BlockRef result = new BlockRef(blocks.result().name());
      if (blocks.result().reduces()) {
        result = s.cacheWrite(result, Scope.LOCAL).copy();
      } else {
        inner.removeLast();
      }
      for (FunctionBlocks.Entry each : inner) {
        if (!each.output()) {
          s.setScope(new BufferRef(each.written().name()), Scope.LOCAL);
        }
      }
      return new Parts(inner, result);
    }
  }
}
