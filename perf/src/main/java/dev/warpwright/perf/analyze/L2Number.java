package dev.warpwright.perf.analyze;

/** What was fitted of {@link L2Model}. */
enum L2Number {
  /** Of the cache. */
  USED_PART,
  DRIFT,
  DRIFT_PERSISTENT,

  /** The longest K of what was measured. */
  LONGEST,

  /**
   * The part of a half's first reads of what the other half has that count as misses; the others
   * find it under way. Fitted to the hit rates of the same counters.
   */
  ACROSS
}
