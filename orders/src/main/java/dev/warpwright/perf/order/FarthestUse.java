package dev.warpwright.perf.order;

import java.util.Arrays;

/**
 * The cached blocks by their next use, the farthest first; of those used at the same time the one
 * with the lowest number. A binary heap that knows where each block is, so that a block whose next
 * use changes moves instead of being looked for: an eviction costs the logarithm of what is cached.
 */
final class FarthestUse {
  private static final int NOWHERE = -1;

  private final int[] next;
  private final int[] place;
  private int[] heap = new int[64];
  private int size;

  /**
   * @param blocks that there are
   */
  FarthestUse(int blocks) {
    next = new int[blocks];
    place = new int[blocks];
    Arrays.fill(place, NOWHERE);
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** The block whose next use is farthest, which is taken out. */
  int poll() {
    int first = heap[0];
    place[first] = NOWHERE;
    size--;
    if (size > 0) {
      put(heap[size], 0);
      down(0);
    }
    return first;
  }

  /** Puts a block in that was taken out, with the use that it had. */
  void restore(int block) {
    use(block, next[block]);
  }

  /** Puts a block in, or moves it, that is used next at this moment. */
  void use(int block, int moment) {
    next[block] = moment;
    if (place[block] == NOWHERE) {
      if (size == heap.length) {
        heap = Arrays.copyOf(heap, 2 * size);
      }
      put(block, size++);
    }
    up(place[block]);
    down(place[block]);
  }

  private void put(int block, int at) {
    heap[at] = block;
    place[block] = at;
  }

  private boolean before(int a, int b) {
    return next[a] > next[b] || next[a] == next[b] && a < b;
  }

  private void up(int from) {
    int at = from;
    int block = heap[at];
    while (at > 0 && before(block, heap[(at - 1) / 2])) {
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
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], block)) {
        break;
      }
      put(heap[child], at);
      at = child;
    }
    put(block, at);
  }
}
