package dev.warpwright.sim;

import org.jspecify.annotations.Nullable;

/**
 * One launch in execution: its extents, the memory that all threads see, and who hears of races.
 */
final class Grid {
  final FindingSink sink;
  final Index3 blocks;
  final Index3 threads;

  /** Storage, outermost extent, shape and shadow of each global buffer, by slot. */
  byte[][] memory = {};

  long[] outer = {};
  long[][] shapes = {};
  @Nullable Shadow[] shadows = {};

  /** Bulk loads that have not arrived. */
  final BulkLoads loads = new BulkLoads();

  final ReleasedCounters counters = new ReleasedCounters();

  final Turns turns = new Turns();

  /** Counts requests, if they are to be counted. */
  @Nullable Counting counting;

  Grid(FindingSink sink, Index3 blocks, Index3 threads) {
    this.sink = sink;
    this.blocks = blocks;
    this.threads = threads;
  }

  /** Makes places for the buffers, all of which these know. */
  void open(Symbols symbols) {
    this.memory = new byte[symbols.bufferSlots()][];
    this.outer = new long[symbols.bufferSlots()];
    this.shapes = new long[symbols.bufferSlots()][];
    this.shadows = new Shadow[symbols.bufferSlots()];
  }
}
