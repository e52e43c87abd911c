package dev.warpwright.compiler.program;

import dev.warpwright.target.HostTarget;

/** The sizes that a host schedule needs. */
final class HostTiling {
  /** Rows that the widest micro-kernel holds in registers. */
  private static final int MICRO_ROWS = 12;

  /**
   * Rows of a product's tile: more would wait for one another at the end, fewer load more often.
   */
  private static final long MOST_PRODUCT_ROWS = 512;

  private static final int LARGEST = 4 * MICRO_ROWS;

  private HostTiling() {}

  /**
   * Rows of a tile: few for few rows, otherwise enough to use each weight often while it is in the
   * core's cache.
   */
  static int rows(int rows, HostTarget target) {
    int share = Math.ceilDiv(rows, target.cores());
    for (int small : new int[] {1, 2, 4, 8, MICRO_ROWS}) {
      if (share <= small) {
        return small;
      }
    }
    return Math.min(LARGEST, Math.ceilDiv(share, MICRO_ROWS) * MICRO_ROWS);
  }

  /**
   * Rows of a tile of a single product: two tiles for each core at least, dividing the whole if
   * that is possible.
   */
  static long productRows(long m, HostTarget target) {
    long share = Math.ceilDiv(m, 2L * target.cores());
    long most = Math.min(share, MOST_PRODUCT_ROWS);
    for (long rows = most; rows > most / 2; rows--) {
      if (m % rows == 0) {
        return rows;
      }
    }
    return most;
  }
}
