package dev.warpwright.measure.reference;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.workload.GemmDeviation;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * How far a result is from its reference, gathered piece by piece.
 *
 * @param errors Σ (result − reference)² where both are finite
 * @param norm Σ reference² there
 * @param nonFinite elements where one of the two is not finite
 * @param maxAbs greatest difference of finite elements
 * @param worst row-major position of the first element that is not finite, or of the greatest
 *     difference; -1 for no elements
 * @param deviations how the differences compare with those of honest arithmetic
 */
public record OutputError(
    double errors, double norm, long nonFinite, double maxAbs, long worst, Deviations deviations) {
  static final OutputError NONE = new OutputError(0, 0, 0, -1, -1, Deviations.NONE);
  private static final int CHUNK = 1 << 14;

  /**
   * Compares two matrices of one shape.
   *
   * @param deviation of each element of the reference, {@link GemmDeviation}
   * @param first position of their first element in the whole
   */
  public static OutputError of(
      HostMatrix result, HostMatrix reference, HostMatrix deviation, long first) {
    int count = result.count();
    if (count != reference.count()) {
      throw new IllegalArgumentException(count + " elements against " + reference.count());
    }
    return IntStream.range(0, Math.ceilDiv(count, CHUNK))
        .parallel()
        .mapToObj(
            chunk -> {
              int end = (int) Math.min(count, (chunk + 1L) * CHUNK);
              return piece(result, reference, deviation, chunk * CHUNK, end, first);
            })
        .reduce(NONE, OutputError::plus);
  }

  private static OutputError piece(
      HostMatrix result, HostMatrix reference, HostMatrix deviation, int from, int to, long first) {
    double errors = 0;
    double norm = 0;
    double maxAbs = -1;
    long nonFinite = 0;
    long worst = -1;
    for (int i = from; i < to; i++) {
      double x = result.get(i);
      double y = reference.get(i);
      if (Double.isFinite(x) && Double.isFinite(y)) {
        double difference = Math.abs(x - y);
        errors += difference * difference;
        norm += y * y;
        if (difference > maxAbs) {
          maxAbs = difference;
          worst = nonFinite == 0 ? first + i : worst;
        }
      } else {
        worst = nonFinite == 0 ? first + i : worst;
        nonFinite++;
      }
    }
    Deviations deviations =
        Deviations.of(
            ErrorBound.of(result.dtype()),
            i -> result.get(from + i),
            i -> reference.get(from + i),
            i -> deviation.get(from + i),
            to - from,
            first + from,
            true);
    return new OutputError(errors, norm, nonFinite, maxAbs, worst, deviations);
  }

  /** This piece and a later one. */
  OutputError plus(OutputError later) {
    boolean mine = nonFinite > 0 || (later.nonFinite == 0 && maxAbs >= later.maxAbs);
    return new OutputError(
        errors + later.errors,
        norm + later.norm,
        nonFinite + later.nonFinite,
        Math.max(maxAbs, later.maxAbs),
        mine ? worst : later.worst,
        deviations.plus(later.deviations));
  }

  /** ‖result − reference‖ / ‖reference‖ over the finite elements. */
  public double relative() {
    return errors == 0 ? 0 : norm == 0 ? Double.POSITIVE_INFINITY : Math.sqrt(errors / norm);
  }

  /** Whether the whole, every element and every group of elements are as honest ones are. */
  public boolean within(double tolerance) {
    return nonFinite == 0 && relative() <= tolerance && deviations.honest();
  }

  /** Why a result is wrong, in a few words. */
  public String why(double tolerance, long columns) {
    String norm =
        String.format(Locale.ROOT, "relative error %.2e (at most %.0e)", relative(), tolerance);
    return nonFinite > 0
        ? norm + ", " + nonFinite + " elements not finite"
        : deviations.honest() ? norm : norm + ", " + deviations.text(columns);
  }
}
