package dev.warpwright.perf.order;

import java.util.Arrays;

/**
 * A binary heap of blocks that knows where each is, so that a block whose turn changes moves
 * instead of being looked for.
 */
public abstract class PlacedHeap {
  private static final int NOWHERE = -1;

  private final int[] place;
  private int[] heap = new int[64];
  private int size;

  /**
   * An empty one.
   *
   * @param blocks that there are
   */
  protected PlacedHeap(int blocks) {
    place = new int[blocks];
    Arrays.fill(place, NOWHERE);
  }

  /** {@return whether one block is nearer the top than another} */
  protected abstract boolean before(int block, int other);

  /** {@return whether no block is in} */
  public final boolean isEmpty() {
    return size == 0;
  }

  /** {@return the block on top} */
  public final int first() {
    return heap[0];
  }

  /** Puts a block in, or moves it where its turn has changed. */
  public final void put(int block) {
    if (place[block] == NOWHERE) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, 2 * size);
      }
      set(block, size++);
    }
    up(place[block]);
    down(place[block]);
  }

  /** Takes a block out. */
  public final void remove(int block) {
    int at = place[block];
    place[block] = NOWHERE;
    size--;
    if (at < size) {
      set(heap[size], at);
      up(at);
      down(at);
    }
  }

  private void set(int block, int at) {
    heap[at] = block;
    place[block] = at;
  }

  private void up(int from) {
    int at = from;
    int block = heap[at];
    while (at > 0 && before(block, heap[(at - 1) / 2])) {
      set(heap[(at - 1) / 2], at);
      at = (at - 1) / 2;
    }
    set(block, at);
  }

  private void down(int from) {
    int at = from;
    int block = heap[at];
    while (2 * at + 1 < size) {
      int child = 2 * at + 1;
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], block)) {
        break;
      }
      set(heap[child], at);
      at = child;
    }
    set(block, at);
  }
}
