package dev.warpwright.perf.grid;

import java.util.Arrays;

/**
 * An L2 that gives up what was used longest ago, of blocks of any size, and in two halves that each
 * keep their own copy of what their SMs read.
 */
final class LeastRecent {
  private static final int NOWHERE = -1;

  private final long[] sizes;
  private final long capacity;
  private final int[] younger;
  private final int[] older;
  private final int head;
  private final boolean[] dirty;
  private final byte[] halves;
  private long used;

  private long read;
  private long stored;
  private long asked;
  private long missed;

  /**
   * An empty one.
   *
   * @param sizes of all blocks
   */
  LeastRecent(long[] sizes, long capacity) {
    this.sizes = sizes;
    this.capacity = capacity;
    head = sizes.length;
    younger = new int[head + 1];
    older = new int[head + 1];
    Arrays.fill(younger, NOWHERE);
    younger[head] = head;
    older[head] = head;
    dirty = new boolean[head];
    halves = new byte[head];
  }

  /**
   * Reads a block or writes it.
   *
   * @param half from which SMs ask, 0 or 1
   * @return bytes that device memory had to move for it, to and fro
   */
  long use(int block, boolean write, int half) {
    long before = read + stored;
    long size = sizes[block];
    if (younger[block] != NOWHERE) {
      unlink(block);
    } else {
      used += size;
      halves[block] = 0;
      read += write ? 0 : size;
    }
    if (!write) {
      asked += size;
      if ((halves[block] >> half & 1) == 0) {
        missed += size;
      }
    }
    halves[block] |= (byte) (1 << half);
    dirty[block] |= write;
    append(block);
    while (used > capacity && younger[head] != block) {
      giveUp(younger[head]);
    }
    return read + stored - before;
  }

  private void giveUp(int block) {
    unlink(block);
    younger[block] = NOWHERE;
    used -= sizes[block];
    stored += dirty[block] ? sizes[block] : 0;
    dirty[block] = false;
  }

  /** Writes what is still dirty. */
  void flush() {
    for (int block = younger[head]; block != head; block = younger[block]) {
      stored += dirty[block] ? sizes[block] : 0;
      dirty[block] = false;
    }
  }

  /** Bytes that came from device memory. */
  long read() {
    return read;
  }

  /** Bytes that went there. */
  long stored() {
    return stored;
  }

  /** Bytes that SMs asked for. */
  long asked() {
    return asked;
  }

  /** Bytes that SMs did not find in their half. */
  long missed() {
    return missed;
  }

  private void append(int block) {
    int last = older[head];
    younger[last] = block;
    older[block] = last;
    younger[block] = head;
    older[head] = block;
  }

  private void unlink(int block) {
    younger[older[block]] = younger[block];
    older[younger[block]] = older[block];
  }
}
