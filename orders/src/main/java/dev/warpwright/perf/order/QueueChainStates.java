package dev.warpwright.perf.order;

import java.util.Arrays;

/**
 * States of {@link ChainStates} where the cache is a queue: LRU and FIFO. The queue is a word of
 * blocks from its old end; a block that no tile reads any more is called dead there, and at the old
 * end it is as good as room.
 */
final class QueueChainStates extends ChainStates {
  private final boolean lru;
  private final int bits;
  private final int dead;
  private final int[] queue;
  private final int[] moved;
  private final int[] place;

  QueueChainStates(TileProblem problem, boolean lru) {
    super(problem, useful(problem));
    this.lru = lru;
    this.bits = bits(problem);
    this.dead = blocks;
    this.queue = new int[capacity + 1];
    this.moved = new int[capacity + 1];
    this.place = new int[blocks];
  }

  /** Results that go through the cache stay in it until they are the oldest. */
  private static int useful(TileProblem problem) {
    return blocks(problem) + (problem.cachedResults() ? problem.items() : 0);
  }

  private static int bits(TileProblem problem) {
    return 32 - Integer.numberOfLeadingZeros(blocks(problem) + 1);
  }

  /** Whether states of this problem fit into a {@code long}. */
  static boolean fits(TileProblem problem) {
    long useful = Math.min(problem.capacity(), useful(problem));
    return problem.items() + useful * bits(problem) <= 63 && blocks(problem) <= 62;
  }

  @Override
  long cached(long state) {
    long cached = 0;
    for (long word = state >>> tiles; word != 0; word >>>= bits) {
      int block = (int) (word & (1L << bits) - 1) - 1;
      cached |= block == dead ? 0 : 1L << block;
    }
    return cached;
  }

  @Override
  void expand(long state, Visitor visitor) {
    long computed = computed(state);
    int length = 0;
    for (long word = state >>> tiles; word != 0; word >>>= bits) {
      queue[length++] = (int) (word & (1L << bits) - 1) - 1;
    }
    for (int tile = 0; tile < tiles; tile++) {
      if (possible(computed, tile)) {
        step(visitor, computed, tile, length);
      }
    }
  }

  private void step(Visitor visitor, long computed, int tile, int before) {
    System.arraycopy(queue, 0, moved, 0, before);
    int length = before;
    int loads = 0;
    for (int k = 0; k < left[tile].length; k++) {
      int a = left[tile][k];
      int b = right[tile][k];
      for (int block : new int[] {a, b}) {
        int at = indexOf(length, block);
        if (at < 0) {
          length = append(length, block, a, b);
          loads++;
        } else if (lru) {
          renew(length, at);
        }
      }
    }
    int result = readResult(tile);
    int at = problem.cachedResults() && result >= 0 ? indexOf(length, result) : -1;
    loads += at < 0 && adds(computed, tile) ? 1 : 0;
    if (at >= 0 && lru) {
      renew(length, at);
    } else if (at < 0 && problem.cachedResults()) {
      length = append(length, result < 0 ? dead : result, -1, -1);
    }
    long after = computed | 1L << tile;
    long needed = neededBeside(computed, tile);
    int first = 0;
    for (int i = 0; i < length; i++) {
      if (moved[i] != dead && (needed >>> moved[i] & 1) == 0) {
        moved[i] = dead;
      }
    }
    while (first < length && moved[first] == dead) {
      first++;
    }
    offer(visitor, after, tile, first, length, loads);
  }

  /** Makes a block of the queue its youngest. */
  private void renew(int length, int at) {
    int block = moved[at];
    System.arraycopy(moved, at + 1, moved, at, length - 1 - at);
    moved[length - 1] = block;
  }

  private int indexOf(int length, int block) {
    for (int i = 0; i < length; i++) {
      if (moved[i] == block) {
        return i;
      }
    }
    return -1;
  }

  /** Puts a block at the young end; the oldest one that is not pinned goes if there is no room. */
  private int append(int length, int block, int pinned, int alsoPinned) {
    int kept = length;
    if (length == capacity) {
      int victim = 0;
      while (moved[victim] == pinned || moved[victim] == alsoPinned) {
        victim++;
      }
      System.arraycopy(moved, victim + 1, moved, victim, length - 1 - victim);
      kept--;
    }
    moved[kept] = block;
    return kept + 1;
  }

  private void offer(Visitor visitor, long computed, int tile, int first, int length, int loads) {
    Arrays.fill(place, 0);
    for (int i = first; i < length; i++) {
      if (moved[i] != dead) {
        place[moved[i]] = i - first + 1;
      }
    }
    long next = renumber(computed, place);
    long word = 0;
    for (int i = length - 1; i >= first; i--) {
      word = word << bits | (moved[i] == dead ? dead : newBlock(moved[i])) + 1;
    }
    stepTiles = 1L << tile;
    visitor.accept(next | word << tiles, loads);
  }
}
