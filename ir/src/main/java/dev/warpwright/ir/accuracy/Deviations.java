package dev.warpwright.ir.accuracy;

import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import java.util.Locale;

/**
 * How the errors of a result compare with what is honest, gathered element by element and piece by
 * piece. 1 is the limit of all of them.
 *
 * @param element the greatest error of an element by its {@link ErrorBound#limit}; infinite if one
 *     is not finite
 * @param at row-major position of that element; -1 for none
 * @param group the greatest mean square of a group's errors by their variances, rooted, by what it
 *     may be
 * @param groupAt position of that group's first element; -1 for none
 */
public record Deviations(double element, long at, double group, long groupAt) {
  /** So many elements that follow each other are judged together. */
  public static final int GROUP = 64;

  /** Which the root of the mean of squared errors by variances must not exceed. */
  public static final double GROUP_LIMIT = 2;

  /** Of no elements. */
  public static final Deviations NONE = new Deviations(0, -1, 0, -1);

  /** Numbers by their place. */
  @FunctionalInterface
  public interface Elements {
    /**
     * {@return an element}
     *
     * @param place row-major position among those that are compared, from 0
     */
    double at(int place);
  }

  /**
   * Compares elements.
   *
   * @param bound of the result's type
   * @param result what was computed
   * @param reference of higher precision
   * @param deviation of each element, before rounding
   * @param count how many elements
   * @param first row-major position of the first one, a multiple of {@link #GROUP} unless groups do
   *     not count
   * @param grouped whether errors of neighbours are independent
   * @return how far they are off
   */
  public static Deviations of(
      ErrorBound bound,
      Elements result,
      Elements reference,
      Elements deviation,
      int count,
      long first,
      boolean grouped) {
    double worst = 0;
    long at = -1;
    double worstGroup = 0;
    long groupAt = -1;
    double squares = 0;
    for (int i = 0; i < count; i++) {
      double x = result.at(i);
      double y = reference.at(i);
      double sigma = deviation.at(i);
      double error = error(x, y);
      double ratio = ofElement(bound, x, y, sigma);
      if (ratio > worst) {
        worst = ratio;
        at = first + i;
      }
      double variance = bound.variance(y, sigma);
      squares += error == 0 ? 0 : ratio(error * error, variance);
      if ((first + i) % GROUP == GROUP - 1) {
        double mean = Math.sqrt(squares / GROUP) / GROUP_LIMIT;
        if (grouped && i >= GROUP - 1 && mean > worstGroup) {
          worstGroup = mean;
          groupAt = first + i - (GROUP - 1);
        }
        squares = 0;
      }
    }
    return new Deviations(worst, at, worstGroup, groupAt);
  }

  /**
   * Compares two results of one computation in two orders, of which no more is known than what the
   * whole may be off by: of an element a part of the root mean square of its row is allowed, so
   * that {@code 4·rtol} of that is its limit, and two neighbours of its type. A wrong row, column
   * or element is not within it.
   *
   * @param type of the elements
   * @param result what was computed
   * @param reference the other result
   * @param columns of a row
   * @param rtol greatest relative error of the whole
   * @return how far they are apart
   */
  public static Deviations ofOrders(
      DType type, double[] result, double[] reference, int columns, double rtol) {
    ErrorBound bound = ErrorBound.of(type).times(4);
    double[] deviation = new double[reference.length];
    for (int row = 0; row < reference.length; row += columns) {
      int end = Math.min(reference.length, row + columns);
      double scale = 0;
      for (int i = row; i < end; i++) {
        scale = Double.isFinite(reference[i]) ? Math.hypot(scale, reference[i]) : scale;
      }
      double before = 4 * rtol * scale / Math.sqrt(end - row);
      Arrays.fill(deviation, row, end, before / ErrorBound.DEVIATIONS / (1 + bound.unit()));
    }
    return of(bound, i -> result[i], i -> reference[i], i -> deviation[i], result.length, 0, false);
  }

  /**
   * {@return how far one element is off by its {@link ErrorBound#limit}: at most 1 if it is right,
   * infinite if it is not finite where the reference is}
   *
   * @param bound of the result's type
   * @param result what was computed
   * @param reference of higher precision
   * @param deviation what honest arithmetic adds to it before it is rounded
   */
  public static double ofElement(
      ErrorBound bound, double result, double reference, double deviation) {
    double error = error(result, reference);
    return error == 0 ? 0 : ratio(error, bound.limit(reference, deviation));
  }

  private static double error(double result, double reference) {
    return Double.compare(result, reference) == 0 ? 0 : Math.abs(result - reference);
  }

  /** What is not a number, or has no finite bound, is as wrong as can be. */
  private static double ratio(double error, double limit) {
    double ratio = error / limit;
    return ratio >= 0 && limit < Double.POSITIVE_INFINITY ? ratio : Double.POSITIVE_INFINITY;
  }

  /**
   * {@return these and those of another piece}
   *
   * @param other of another piece of the same result
   */
  public Deviations plus(Deviations other) {
    boolean mine = element >= other.element;
    boolean mineGroup = group >= other.group;
    return new Deviations(
        mine ? element : other.element,
        mine ? at : other.at,
        mineGroup ? group : other.group,
        mineGroup ? groupAt : other.groupAt);
  }

  /** {@return whether no element and no group is further off than honest arithmetic} */
  public boolean honest() {
    return element <= 1 && group <= 1;
  }

  /**
   * {@return {@code element [3, 5] is 12.3 times its bound off}, or nothing if all is well}
   *
   * @param columns of the result, by which places are told
   */
  public String text(long columns) {
    if (honest()) {
      return "";
    }
    long where = element > 1 ? at : groupAt;
    String place =
        columns > 0
            ? String.format(Locale.ROOT, "[%d, %d]", where / columns, where % columns)
            : Long.toString(where);
    return element > 1
        ? String.format(Locale.ROOT, "element %s is %.3g times its own bound off", place, element)
        : String.format(
            Locale.ROOT,
            "%d elements from %s on are together %.3g times their bound off",
            GROUP,
            place,
            group);
  }
}
