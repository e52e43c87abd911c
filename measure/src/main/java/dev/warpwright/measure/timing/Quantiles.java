package dev.warpwright.measure.timing;

import java.util.Arrays;

/**
 * What is told of several measurements of one thing.
 *
 * @param least the smallest, which is told beside the median only
 * @param low the lower quartile
 * @param high the upper quartile
 */
public record Quantiles(double least, double low, double median, double high) {
  /** Of something that was measured once, or elsewhere. */
  public static Quantiles of(double value) {
    return new Quantiles(Double.NaN, Double.NaN, value, Double.NaN);
  }

  /** Quartiles by linear interpolation; all NaN if there is nothing. */
  public static Quantiles of(double[] values) {
    if (values.length == 0) {
      return of(Double.NaN);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return new Quantiles(sorted[0], at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
  }

  /** Half the distance of the quartiles, as a part of the median; 0 if it is not known. */
  public double relativeSpread() {
    return Double.isNaN(low) ? 0 : (high - low) / 2 / median;
  }

  private static double at(double[] sorted, double part) {
    double place = part * (sorted.length - 1);
    int below = (int) place;
    double above = sorted[Math.min(below + 1, sorted.length - 1)];
    return sorted[below] + (place - below) * (above - sorted[below]);
  }
}
