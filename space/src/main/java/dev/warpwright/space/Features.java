package dev.warpwright.space;

import java.util.Arrays;
import java.util.List;

/**
 * What a cost model knows of a candidate before it is compiled.
 *
 * @param names one for each value, the same for all candidates of a space
 * @param values finite numbers
 * @param predictedUs time by the analytic model, in microseconds
 */
public record Features(List<String> names, double[] values, double predictedUs) {
  /** Copies names and values and checks that they are as many, and finite. */
  public Features {
    names = List.copyOf(names);
    values = values.clone();
    if (names.size() != values.length
        || !areFinite(values)
        || !(predictedUs > 0)
        || Double.isInfinite(predictedUs)) {
      throw new IllegalArgumentException(
          names + " = " + Arrays.toString(values) + ", " + predictedUs + " us");
    }
  }

  private static boolean areFinite(double[] values) {
    for (double value : values) {
      if (!Double.isFinite(value)) {
        return false;
      }
    }
    return true;
  }

  /** {@return a copy of the values, in the order of the names} */
  @Override
  public double[] values() {
    return values.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Features f
        && names.equals(f.names)
        && Arrays.equals(values, f.values)
        && predictedUs == f.predictedUs;
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(values) + Double.hashCode(predictedUs);
  }
}
