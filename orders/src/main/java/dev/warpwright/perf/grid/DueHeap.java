package dev.warpwright.perf.grid;

import java.util.Arrays;

/** Blocks by when they are due, the first on top: a binary heap that knows where each is. */
final class DueHeap {
  private static final int NOWHERE = -1;

  private final int[] heap;
  private final int[] place;
  private final double[] due;
  private int size;

  /**
   * An empty one.
   *
   * @param due of each block; changes only while a block is not in the heap
   */
  DueHeap(double[] due) {
    this.due = due;
    heap = new int[due.length];
    place = new int[due.length];
    Arrays.fill(place, NOWHERE);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** The block that is due first. */
  int first() {
    return heap[0];
  }

  void add(int block) {
    place[block] = size;
    heap[size] = block;
    size++;
    up(size - 1);
  }

  void remove(int block) {
    int at = place[block];
    place[block] = NOWHERE;
    size--;
    if (at < size) {
      put(heap[size], at);
      up(at);
      down(at);
    }
  }

  private boolean isBefore(int block, int other) {
    return due[block] < due[other] || (due[block] == due[other] && block < other);
  }

  private void put(int block, int at) {
    heap[at] = block;
    place[block] = at;
  }

  private void up(int from) {
    int at = from;
    int block = heap[at];
    while (at > 0 && isBefore(block, heap[(at - 1) / 2])) {
      put(heap[(at - 1) / 2], at);
      at = (at - 1) / 2;
    }
    put(block, at);
  }

  private void down(int from) {
    int at = from;
    int block = heap[at];
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
        child++;
      }
      if (!isBefore(heap[child], block)) {
        break;
      }
      put(heap[child], at);
      at = child;
    }
    put(block, at);
  }
}
