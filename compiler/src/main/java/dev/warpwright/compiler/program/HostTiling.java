package dev.warpwright.compiler.program;

import dev.warpwright.target.HostTarget;

/** The sizes that a host schedule needs. */
final class HostTiling {
  /** Rows that the widest micro-kernel holds in registers. */
  private static final int MICRO_ROWS = 12;

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
}
