package dev.warpwright.perf.order;

import java.util.HashMap;
import java.util.Map;

/**
 * States of {@link ChainStates} where each load may evict any block: the optimal policy. Blocks
 * that no tile reads any more give their room back at once. Where results go past the cache, a tile
 * whose blocks are all there is computed at once, which costs no more than at any other time and
 * changes nothing.
 */
final class FreeChainStates extends ChainStates {
  private final int[] place;
  private Map<Long, Integer> now = new HashMap<>();
  private Map<Long, Integer> then = new HashMap<>();

  FreeChainStates(TileProblem problem) {
    super(problem, blocks(problem) + 1);
    place = new int[blocks];
  }

  /** Whether states of this problem fit into a {@code long}. */
  static boolean fits(TileProblem problem) {
    return (long) problem.items() + blocks(problem) <= 63;
  }

  @Override
  long cached(long state) {
    return state >>> tiles;
  }

  @Override
  void expand(long state, Visitor visitor) {
    long computed = computed(state);
    long cached = cached(state);
    if (!problem.cachedResults()) {
      for (int tile = 0; tile < tiles; tile++) {
        if (possible(computed, tile) && (reads[tile] & ~cached) == 0) {
          end(visitor, computed, tile, cached, neededBeside(computed, tile), 0);
          return;
        }
      }
    }
    for (int tile = 0; tile < tiles; tile++) {
      if (possible(computed, tile)) {
        long others = neededBeside(computed, tile);
        moments(tile, cached, others);
        for (Map.Entry<Long, Integer> way : now.entrySet()) {
          end(visitor, computed, tile, way.getKey(), others, way.getValue());
        }
      }
    }
  }

  /**
   * Goes through the moments of a tile, trying everything that may be evicted. Leaves in {@link
   * #now} what the cache may hold after them, with the least loads to get there.
   */
  private void moments(int tile, long cached, long others) {
    now.clear();
    now.put(cached, 0);
    long own = reads[tile];
    for (int k = 0; k < left[tile].length; k++) {
      long pinned = 1L << left[tile][k] | 1L << right[tile][k];
      then.clear();
      for (Map.Entry<Long, Integer> way : now.entrySet()) {
        long before = way.getKey();
        int loads = way.getValue() + Long.bitCount(pinned & ~before);
        evictions((before | pinned) & (others | own), pinned, loads);
      }
      Map<Long, Integer> swapped = now;
      now = then;
      then = swapped;
      // A pair meets in one moment only, so the tile itself needs neither again.
      own &= ~pinned;
    }
  }

  private void evictions(long wanted, long pinned, int loads) {
    int surplus = Long.bitCount(wanted) - capacity;
    if (surplus <= 0) {
      then.merge(wanted, loads, Math::min);
      return;
    }
    for (long first = wanted & ~pinned; first != 0; first &= first - 1) {
      long kept = wanted & ~Long.lowestOneBit(first);
      if (surplus == 1) {
        then.merge(kept, loads, Math::min);
        continue;
      }
      for (long second = first & first - 1; second != 0; second &= second - 1) {
        then.merge(kept & ~Long.lowestOneBit(second), loads, Math::min);
      }
    }
  }

  /** Writes the result, or adds to the partial sum that is there. */
  private void end(Visitor visitor, long computed, int tile, long cached, long others, int loads) {
    long after = computed | 1L << tile;
    long kept = cached & others;
    int read = adds(computed, tile) ? 1 : 0;
    if (!problem.cachedResults()) {
      offer(visitor, after, tile, kept, loads + read);
      return;
    }
    int number = readResult(tile);
    long result = number < 0 ? 0 : 1L << number;
    long with = kept | result & others;
    if ((cached & result) != 0) {
      offer(visitor, after, tile, with, loads);
      return;
    }
    if (Long.bitCount(kept) < capacity) {
      offer(visitor, after, tile, with, loads + read);
      return;
    }
    for (long rest = kept; rest != 0; rest &= rest - 1) {
      offer(visitor, after, tile, with & ~Long.lowestOneBit(rest), loads + read);
    }
  }

  private void offer(Visitor visitor, long computed, int tile, long cached, int loads) {
    for (int block = 0; block < blocks; block++) {
      place[block] = (int) (cached >>> block) & 1;
    }
    long next = renumber(computed, place);
    long renumbered = 0;
    for (long rest = cached; rest != 0; rest &= rest - 1) {
      renumbered |= 1L << newBlock(Long.numberOfTrailingZeros(rest));
    }
    stepTiles = 1L << tile;
    visitor.accept(next | renumbered << tiles, loads);
  }
}
