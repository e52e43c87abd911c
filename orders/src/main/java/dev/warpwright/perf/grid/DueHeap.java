package dev.warpwright.perf.grid;

import dev.warpwright.perf.order.PlacedHeap;

/** Blocks by when they are due, the first on top. */
final class DueHeap extends PlacedHeap {
  private final double[] due;

  /**
   * An empty one.
   *
   * @param due of each block; changes only while a block is not in the heap
   */
  DueHeap(double[] due) {
    super(due.length);
    this.due = due;
  }

  @Override
  protected boolean before(int block, int other) {
    return due[block] < due[other] || (due[block] == due[other] && block < other);
  }
}
