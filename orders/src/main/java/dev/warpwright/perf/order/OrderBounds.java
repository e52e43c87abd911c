package dev.warpwright.perf.order;

/** What no order and no policy can go below. */
public final class OrderBounds {
  private OrderBounds() {}

  /**
   * Loads of blocks that every order needs.
   *
   * <p>Each block of an input must come in once. And where all blocks are one unit and one tile is
   * computed at a time: a load makes at most {@code capacity - 1} new pairs of blocks meet, the
   * first {@code capacity} loads together at most a quarter of the capacity's square, and every
   * product of two blocks needs its pair to meet.
   */
  public static long loads(TileProblem problem) {
    long inputs =
        (long) problem.depth() * (problem.rows() + problem.columns())
            + (long) problem.columns() * problem.chained()
            + rereadResults(problem);
    if (problem.chained() > 0 || problem.atOnce() > 1 || !uniform(problem)) {
      return inputs;
    }
    return Math.max(
        inputs,
        meetings((long) problem.rows() * problem.columns() * problem.depth(), problem.capacity()));
  }

  /** Loads that so many meetings of two blocks need. */
  static long meetings(long pairs, long capacity) {
    if (capacity < 2) {
      return pairs == 0 ? 0 : Long.MAX_VALUE;
    }
    long first = capacity > 1L << 31 ? Long.MAX_VALUE : capacity * capacity / 4;
    return pairs <= first ? 0 : capacity + Math.ceilDiv(pairs - first, capacity - 1);
  }

  /**
   * Blocks of the first result that the second matmul cannot find in the cache, and partial sums
   * that it adds to.
   */
  private static long rereadResults(TileProblem problem) {
    return problem.chained() > 0 && !problem.cachedResults()
        ? problem.rows() * (problem.columns() + (problem.parts() - 1L) * problem.chained())
        : 0;
  }

  private static boolean uniform(TileProblem problem) {
    return problem.sizes().equals(TileProblem.Sizes.ONE);
  }
}
