package dev.warpwright.perf;

/**
 * Floors below which no schedule gets, in words of fast memory and of traffic unless said
 * otherwise.
 */
public final class LowerBounds {
  private LowerBounds() {}

  /**
   * Words that a product D[m, n] = A[m, k] · B[k, n] must move between a memory and one fast memory
   * of {@code fast} words: every operand once, and by Smith, Lowery, Langou and van de Geijn (arXiv
   * 1702.02017) {@code 2mnk/√S − 2S}.
   */
  public static double gemmWords(long m, long n, long k, double fast) {
    double once = (double) m * k + (double) k * n + (double) m * n;
    return Math.max(once, 2.0 * m * n * k / Math.sqrt(fast) - 2 * fast);
  }

  /**
   * Words that {@code parts} fast memories of {@code fast} words each must together get from the
   * memory that they share, without multicast.
   */
  public static double gemmWords(long m, long n, long k, int parts, double fast) {
    double once = (double) m * k + (double) k * n + (double) m * n;
    return Math.max(once, 2.0 * m * n * k / Math.sqrt(fast) - 2.0 * parts * fast);
  }

  /**
   * Words of two products of which the second takes the first's result, m×k×l then m×l×n, without
   * computing anything twice.
   */
  public static double chainWords(long m, long k, long l, long n, double fast) {
    double once = (double) m * k + (double) k * l + (double) l * n + (double) m * n;
    double first = 2.0 * m * k * l / Math.sqrt(fast) - 2 * fast;
    double second = 2.0 * m * l * n / Math.sqrt(fast) - 2 * fast;
    return Math.max(once, first + second - 2.0 * m * l);
  }

  /**
   * Seconds: operations over the rate, bytes over the bandwidth, whichever is longer.
   *
   * @param flopsPerSecond of the units that the kernel uses
   */
  public static double seconds(
      double flops, double flopsPerSecond, double bytes, double bytesPerSecond) {
    return Math.max(flops / flopsPerSecond, bytes / bytesPerSecond);
  }
}
