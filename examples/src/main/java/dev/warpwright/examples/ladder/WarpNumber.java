package dev.warpwright.examples.ladder;

/** What was fitted of {@link SimtTime}. */
enum WarpNumber {
  /**
   * Part of the schedulers' time that multiply-adds reach in practice: register banks, addresses.
   */
  FMA_EFFICIENCY,

  /** Bytes that an SM gets from L2 in a clock. */
  L2_BYTES,

  /** Clocks of a barrier, and of a load from L2 that nothing hides. */
  BARRIER,
  LOAD
}
