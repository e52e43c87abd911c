package dev.warpwright.cli.program;

import dev.warpwright.families.ThreadLoops;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Rejected;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A thread for each index of the result's first dimensions: it computes all that its part of the
 * result needs, one after the other. For what a tile cannot be cut out of, as norms of rows.
 */
final class RowSketch implements FunctionSketch {
  @Override
  public String name() {
    return "rows";
  }

  @Override
  public Schedule schedule(PrimFunc function, Decisions decisions) {
    Schedule s = OwnProgram.started(function);
    FunctionSketch.inline(s);
    FunctionBlocks blocks = FunctionBlocks.of(s.func());
    FunctionBlocks.Entry last = blocks.result();
    int rank = last.dimensions().size();
    if (rank == 0) {
      throw new Rejected("results", "the result is one number");
    }
    int parallel = (int) decisions.choose("dimensions", dimensions(rank));
    long threads = decisions.choose("threads", 128, 64, 32, 256, 512);
    long depth = decisions.choose("depth", 1, 4, 8, 2);

    FunctionSketch.Parts parts = FunctionSketch.Parts.inRegisters(s, blocks);
    List<FunctionBlocks.Entry> inner = parts.inner();
    BlockRef result = parts.result();
    List<LoopRef> loops = s.loops(result);
    Schedule.Halves t = s.split(ThreadLoops.fuse(s, loops.subList(0, parallel)), threads);
    for (FunctionBlocks.Entry each : inner.reversed()) {
      s.computeAt(new BlockRef(each.name()), t.inner());
    }
    s.bind(t.outer(), ThreadAxis.BLOCK_X);
    s.bind(t.inner(), ThreadAxis.THREAD_X);
    s.compactAll();
    for (FunctionBlocks.Entry each : inner) {
      if (each.reduces()) {
        sum(s, each, depth);
      }
    }
    return s;
  }

  private static void sum(Schedule s, FunctionBlocks.Entry sum, long depth) {
    BlockRef block = new BlockRef(sum.name());
    List<LoopRef> loops = s.loops(block);
    LoopRef k = FunctionBlocks.loop(s.func(), sum.name(), sum.reduced().getFirst(), loops);
    LoopRef outer = k;
    if (depth > 1) {
      Schedule.Halves halves = s.split(k, depth);
      s.unroll(halves.inner());
      outer = halves.outer();
    }
    s.decomposeReduction(block, outer);
  }

  /** All but the last first, then all, then fewer. */
  private static long[] dimensions(int rank) {
    return LongStream.concat(
            LongStream.of(Math.max(1, rank - 1)),
            LongStream.rangeClosed(1, rank)
                .map(i -> rank + 1 - i)
                .filter(i -> i != Math.max(1, rank - 1)))
        .toArray();
  }
}
