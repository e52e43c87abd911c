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
}
