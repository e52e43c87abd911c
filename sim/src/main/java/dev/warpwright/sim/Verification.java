package dev.warpwright.sim;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.type.DType;
import java.util.Arrays;

/**
 * How far a result is from its reference.
 *
 * @param relError ‖result − reference‖ / ‖reference‖ over the finite elements; 0 if both norms are
 *     0, infinite if only the reference's is
 * @param maxAbsError greatest difference of finite elements
 * @param nonFiniteMismatches elements where only one of the two is finite, or both are not and they
 *     differ
 * @param worst row-major position of the greatest difference, or of the first non-finite mismatch;
 *     -1 for no elements
 */
public record Verification(
    double relError, double maxAbsError, long nonFiniteMismatches, long worst) {

  /**
   * Compares element by element.
   *
   * @param result what was computed
   * @param reference what should have been
   * @return how far the result is off
   * @throws IllegalArgumentException if the shapes differ
   */
  public static Verification compare(NdArray result, NdArray reference) {
    if (!Arrays.equals(result.shape(), reference.shape())) {
      throw new IllegalArgumentException(
          "result has shape "
              + Arrays.toString(result.shape())
              + ", reference "
              + Arrays.toString(reference.shape()));
    }
    return compare(result.toDoubles(), reference.toDoubles());
  }

  /**
   * Compares element by element; both have one length.
   *
   * @param result what was computed
   * @param reference what should have been
   * @return how far the result is off
   */
  public static Verification compare(double[] result, double[] reference) {
    if (result.length != reference.length) {
      throw new IllegalArgumentException(
          "result has " + result.length + " elements, reference " + reference.length);
    }
    double scale = Math.max(largest(result), largest(reference));
    // Scaled, so that squares neither overflow nor vanish.
    double unit = scale > 0 ? scale : 1;
    double errors = 0;
    double norm = 0;
    double max = 0;
    long mismatches = 0;
    long worst = result.length == 0 ? -1 : 0;
    for (int i = 0; i < result.length; i++) {
      double x = result[i];
      double y = reference[i];
      if (Double.isFinite(x) && Double.isFinite(y)) {
        double difference = Math.abs(x - y);
        errors += (difference / unit) * (difference / unit);
        norm += (y / unit) * (y / unit);
        if (difference > max) {
          max = difference;
          worst = mismatches == 0 ? i : worst;
        }
      } else if (Double.compare(x, y) != 0) {
        worst = mismatches == 0 ? i : worst;
        mismatches++;
      }
    }
    double relative =
        errors == 0 ? 0 : norm == 0 ? Double.POSITIVE_INFINITY : Math.sqrt(errors / norm);
    return new Verification(relative, max, mismatches, worst);
  }

  /**
   * {@return how elements compare with what honest arithmetic may add to them}
   *
   * @param result what was computed, row-major
   * @param reference of higher precision
   * @param deviation of each, before it is rounded to the type
   * @param type of the result's elements
   * @param grouped whether errors of neighbours are independent
   */
  public static Deviations deviations(
      double[] result, double[] reference, double[] deviation, DType type, boolean grouped) {
    return Deviations.of(
        ErrorBound.of(type),
        i -> result[i],
        i -> reference[i],
        i -> deviation[i],
        result.length,
        0,
        grouped);
  }

  private static double largest(double[] values) {
    double largest = 0;
    for (double v : values) {
      if (Double.isFinite(v)) {
        largest = Math.max(largest, Math.abs(v));
      }
    }
    return largest;
  }

  /**
   * {@return whether there is no non-finite mismatch and the relative error is at most {@code
   * rtol}}
   *
   * @param rtol greatest ‖result − reference‖ / ‖reference‖
   */
  public boolean within(double rtol) {
    return nonFiniteMismatches == 0 && relError <= rtol;
  }

  /**
   * {@return whether {@link #within(double)} holds and no element is off by more than {@code atol}}
   *
   * @param rtol greatest ‖result − reference‖ / ‖reference‖
   * @param atol greatest absolute error of an element
   */
  public boolean within(double rtol, double atol) {
    return within(rtol) && maxAbsError <= atol;
  }

  @Override
  public String toString() {
    return "relative error "
        + relError
        + ", greatest error "
        + maxAbsError
        + " at "
        + worst
        + (nonFiniteMismatches == 0 ? "" : ", " + nonFiniteMismatches + " non-finite mismatches");
  }
}
