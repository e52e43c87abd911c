package dev.warpwright.perf.grid;

/** How blocks come to their items. */
public enum Dealing {
  /**
   * From a counter, the next one when an item begins, so that nobody waits for the answer: whoever
   * waits, or has a long item, keeps the next one from all others.
   */
  DRAWN_AHEAD,

  /** From a counter, the next one when an item has ended. */
  DRAWN,

  /** Block b does items b, b + blocks, b + 2 · blocks and so on. */
  STRIDE
}
