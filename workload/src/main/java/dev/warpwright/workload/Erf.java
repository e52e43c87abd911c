package dev.warpwright.workload;

/** The error function in double precision, to a few units in the last place. */
final class Erf {
  private static final double TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);

  /** Beyond this the series needs many terms and the continued fraction few. */
  private static final double SERIES_LIMIT = 2.0;

  /** From here on erfc underflows to zero. */
  private static final double UNDERFLOW = 27.3;

  private Erf() {}

  static double erf(double x) {
    double a = Math.abs(x);
    return a < SERIES_LIMIT ? series(x) : Math.copySign(1 - tail(a), x);
  }

  /** 1 − erf(x), without cancellation for large x. */
  static double erfc(double x) {
    if (Math.abs(x) < 0.5) {
      return 1 - series(x);
    }
    if (x < 0) {
      return 1 + erf(-x);
    }
    return x < 1 ? 1 - series(x) : tail(x);
  }

  /**
   * erf(x) = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!: all terms have one sign, so that nothing
   * cancels.
   */
  private static double series(double x) {
    double term = x;
    double sum = x;
    for (int n = 1; Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
      term *= 2 * x * x / (2 * n + 1);
      sum += term;
    }
    return TWO_OVER_SQRT_PI * Math.exp(-x * x) * sum;
  }

  /**
   * erfc(x) for x ≥ 1 by its continued fraction e^(−x²)/√π · 1/(x + ½/(x + 1/(x + 3⁄2/(x + …)))),
   * evaluated from the far end; the closer to 1, the more steps it takes.
   */
  private static double tail(double x) {
    if (Double.isNaN(x)) {
      return x;
    }
    if (x > UNDERFLOW) {
      return 0;
    }
    int steps = (int) (16 + 240 / (x * x));
    double f = x;
    for (int n = steps; n >= 1; n--) {
      f = x + 0.5 * n / f;
    }
    // e^(-x²) with x² split, because the rounding error of x·x alone would be amplified
    double high = (float) x;
    return Math.exp(-high * high) * Math.exp((high - x) * (high + x)) / (f * Math.sqrt(Math.PI));
  }
}
