package dev.warpwright.perf.order;

import java.util.Arrays;
import java.util.function.BooleanSupplier;

/**
 * A hash table from states to what a search knows about them: open addressing over primitive
 * arrays. Entries are numbered in the order in which they came and are never removed.
 */
final class LongTable {
  private static final int BETWEEN_LOOKS = 1 << 16;

  private long[] keys = new long[1 << 12];
  private int[] parents = new int[1 << 12];
  private byte[] costs = new byte[1 << 12];
  private byte[] expanded = new byte[1 << 12];
  private int[] slots = new int[1 << 13];
  private int size;
  private final BooleanSupplier stop;
  private boolean stopped;

  /**
   * @param stop asked now and then while the table grows, which takes seconds in the end
   */
  LongTable(BooleanSupplier stop) {
    this.stop = stop;
  }

  /** Whether it was stopped while it grew: it knows no more states from then on. */
  boolean stopped() {
    return stopped;
  }

  int size() {
    return size;
  }

  long key(int entry) {
    return keys[entry];
  }

  int parent(int entry) {
    return parents[entry];
  }

  int cost(int entry) {
    return costs[entry];
  }

  /** Whether the entry was expanded at this cost or a lower one; it counts as that from now on. */
  boolean expand(int entry) {
    if (expanded[entry] <= costs[entry]) {
      return false;
    }
    expanded[entry] = costs[entry];
    return true;
  }

  /** Takes note of a way to a state; the entry's number if none as cheap was known, else -1. */
  int offer(long key, int cost, int parent) {
    if (stopped) {
      return -1;
    }
    int mask = slots.length - 1;
    int slot = hash(key) & mask;
    while (slots[slot] != 0) {
      int entry = slots[slot] - 1;
      if (keys[entry] == key) {
        if (costs[entry] <= cost) {
          return -1;
        }
        costs[entry] = (byte) cost;
        parents[entry] = parent;
        return entry;
      }
      slot = (slot + 1) & mask;
    }
    if (size == keys.length) {
      grow();
      return offer(key, cost, parent);
    }
    keys[size] = key;
    costs[size] = (byte) cost;
    expanded[size] = Byte.MAX_VALUE;
    parents[size] = parent;
    slots[slot] = ++size;
    return size - 1;
  }

  private void grow() {
    int capacity = 2 * keys.length;
    keys = Arrays.copyOf(keys, capacity);
    parents = Arrays.copyOf(parents, capacity);
    costs = Arrays.copyOf(costs, capacity);
    expanded = Arrays.copyOf(expanded, capacity);
    slots = new int[2 * capacity];
    int mask = slots.length - 1;
    for (int entry = 0; entry < size; entry++) {
      if (entry % BETWEEN_LOOKS == 0 && stop.getAsBoolean()) {
        stopped = true;
        return;
      }
      int slot = hash(keys[entry]) & mask;
      while (slots[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = entry + 1;
    }
  }

  private static int hash(long key) {
    long h = key * 0x9E3779B97F4A7C15L;
    h ^= h >>> 32;
    h *= 0xD6E8FEB86659FD93L;
    return (int) (h >>> 32);
  }
}
