package dev.warpwright.sim;

/**
 * How an {@link Interpreter} executes.
 *
 * @param precision of float arithmetic
 * @param order of iterations that do not depend on each other (parallel, thread-bound, persistent
 *     and vectorized loops, points of tile statements)
 * @param seed of {@link Order#SHUFFLED}
 * @param trackUninitialised reading an element of an allocated buffer that was never written is an
 *     error; slower
 */
public record Options(Precision precision, Order order, long seed, boolean trackUninitialised) {
  /** Order of independent iterations. */
  public enum Order {
    FORWARD,
    REVERSE,
    SHUFFLED
  }

  /** Bit-exact, in order. */
  public static final Options EXACT = new Options(Precision.EXACT, Order.FORWARD, 0, false);

  /** The reference of higher precision. */
  public static final Options DOUBLE = new Options(Precision.DOUBLE, Order.FORWARD, 0, false);

  /** Bit-exact, everything checked. */
  public static final Options CHECKED = new Options(Precision.EXACT, Order.FORWARD, 0, true);

  public Options withOrder(Order newOrder, long newSeed) {
    return new Options(precision, newOrder, newSeed, trackUninitialised);
  }
}
