package dev.warpwright.sim.api;

/** How floating-point values are held and computed. */
public enum FloatMode {
  /** Every operation rounds to its type as the IR says: results are bit-exact. */
  EXACT,
  /** All float buffers and arithmetic in f64, without rounding to the declared types. */
  DOUBLE
}
