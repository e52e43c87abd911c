package dev.warpwright.compiler.bench;

/** Elements of products by plain loops in Java, to check the checker. */
final class HostReference {
  private HostReference() {}

  /**
   * Σₖ a[i, k] · w[j, k] in f64; a[k, i] where a is stored {@code transposedA}, w[k, j] where w is
   * not stored {@code transposedW}.
   */
  static double dot(
      HostMatrix a, boolean transposedA, long i, HostMatrix w, boolean transposedW, long j) {
    double sum = 0;
    for (long k = 0; k < (transposedA ? a.rows() : a.columns()); k++) {
      sum += (transposedA ? a.get(k, i) : a.get(i, k)) * (transposedW ? w.get(j, k) : w.get(k, j));
    }
    return sum;
  }

  /** {@code x/2 · (1 + erf(x/√2))}, to about 1e-14. */
  static double gelu(double x) {
    return 0.5 * x * (1 + erf(x / Math.sqrt(2)));
  }

  /** 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms all have one sign. */
  private static double erf(double x) {
    if (Math.abs(x) > 6) {
      return Math.signum(x);
    }
    double term = x;
    double sum = x;
    for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
}
