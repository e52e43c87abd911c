package dev.warpwright.sim.block;

import dev.warpwright.sim.counter.Counting;
import dev.warpwright.sim.expr.Index3;
import dev.warpwright.sim.expr.Symbols;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.memory.Shadow;
import org.jspecify.annotations.Nullable;

/**
 * One launch in execution: its extents, the memory that all threads see, and who hears of races.
 */
public final class Grid {
  public final FindingSink sink;
  public final Index3 blocks;
  public final Index3 threads;

  /** Storage, outermost extent, shape and shadow of each global buffer, by slot. */
  public byte[][] memory = {};

  public long[] outer = {};
  public long[][] shapes = {};
  public @Nullable Shadow[] shadows = {};

  /** Bulk loads that have not arrived. */
  public final TmaLoads loads = new TmaLoads();

  final ReleasedCounters counters = new ReleasedCounters();

  public final Turns turns = new Turns();

  /** Counts requests, if they are to be counted. */
  public @Nullable Counting counting;

  public Grid(FindingSink sink, Index3 blocks, Index3 threads) {
    this.sink = sink;
    this.blocks = blocks;
    this.threads = threads;
  }

  /** Makes places for the buffers, all of which these know. */
  public void open(Symbols symbols) {
    this.memory = new byte[symbols.bufferSlots()][];
    this.outer = new long[symbols.bufferSlots()];
    this.shapes = new long[symbols.bufferSlots()][];
    this.shadows = new Shadow[symbols.bufferSlots()];
  }
}
