package dev.warpwright.perf.grid;

/** How blocks come to their items. */
public enum Dealing {
  /**
   * From a counter, the next one when an item begins: whoever waits, or has a long item, keeps the
   * next one from all others. Our kernels did so until 2026-11-26.
   */
  DRAWN_AHEAD,

  /** From a counter, the next one when an item has ended. */
  DRAWN,

  /** Block b does items b, b + blocks, b + 2 · blocks and so on. */
  STRIDE
}
