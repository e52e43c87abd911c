package dev.warpwright.measure.network;

import java.util.Locale;

/**
 * How far the outputs of a launch are from what they should be, over all rows.
 *
 * @param relative ‖out − reference‖ / ‖reference‖ of the output that is furthest off; infinite if
 *     an element is not finite
 * @param maxAbs the greatest error
 * @param element the greatest error by what honest arithmetic may be off there
 * @param where that element is, as {@code [row, feature]}; empty if none is off
 * @param nonFinite elements that are not finite
 */
public record NetworkError(
    double relative, double maxAbs, double element, String where, long nonFinite) {
  /** Whether it is honest arithmetic's. */
  public boolean within(double tolerance) {
    return nonFinite == 0 && relative <= tolerance && element <= 1;
  }

  /** One line that says what is wrong. */
  String why(double tolerance) {
    if (nonFinite > 0) {
      return nonFinite + " elements are not finite or were never written, the first at " + where;
    }
    return relative > tolerance
        ? String.format(Locale.ROOT, "relative error %.2e, at most %.0e", relative, tolerance)
        : String.format(
            Locale.ROOT, "element %s is %.3g times as far off as it may be", where, element);
  }

  /** The worse of both. */
  NetworkError worst(NetworkError other) {
    return other.nonFinite > nonFinite
            || (other.nonFinite == nonFinite && other.relative > relative)
        ? other
        : this;
  }
}
