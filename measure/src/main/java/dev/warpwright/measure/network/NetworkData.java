package dev.warpwright.measure.network;

import java.util.List;

/**
 * What goes into a network and what should come out, for some distinct rows of which all inputs are
 * made.
 *
 * @param rows of a launch
 * @param distinct so many rows are different
 * @param inputs [distinct, features] each, in numbers that the inputs' type holds
 * @param expected [distinct, features] each, computed in double precision
 * @param deviations as {@code expected}: what honest arithmetic may be off by
 * @param tolerance of the relative error of the whole
 * @param seed by which the order of the rows is drawn
 */
public record NetworkData(
    int rows,
    int distinct,
    List<float[]> inputs,
    List<double[]> expected,
    List<double[]> deviations,
    double tolerance,
    long seed) {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  public NetworkData {
    inputs = List.copyOf(inputs);
    expected = List.copyOf(expected);
    deviations = List.copyOf(deviations);
    if (distinct < 1 || distinct > Math.max(1, rows)) {
      throw new IllegalArgumentException(distinct + " distinct rows of " + rows);
    }
  }

  /** Which of the distinct rows a row of a set is; all of them occur where each occurs once. */
  int source(int set, int row) {
    if (distinct == rows) {
      return (int) ((row + 7919L * set) % distinct);
    }
    long z = seed + GOLDEN * ((long) set * rows + row + 1);
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return (int) Long.remainderUnsigned(z ^ z >>> 31, distinct);
  }
}
