package dev.warpwright.bench;

import java.util.function.Supplier;

/**
 * Something that computes a workload.
 *
 * @param reference what the result should be, in double precision
 * @param tolerance greatest ‖out − ref‖ / ‖ref‖
 * @param call computes it once
 * @param output the result of the last call, row-major
 * @param poison makes the result of the last call unusable
 */
record Implementation(
    String name,
    double[] reference,
    double tolerance,
    Runnable call,
    Supplier<float[]> output,
    Runnable poison) {
  /** Ours, in f32. */
  static final double F32_TOLERANCE = 3e-6;

  /** Others approximate functions more coarsely; this only tells that they compute the same. */
  static final double BASELINE_TOLERANCE = 2e-3;

  /** How wrong the result of a call is, after the one before was poisoned. */
  double error() {
    poison.run();
    call.run();
    float[] result = output.get();
    if (result.length != reference.length) {
      throw new IllegalStateException(
          name + " gave " + result.length + " elements, not " + reference.length);
    }
    double errors = 0;
    double norm = 0;
    for (int i = 0; i < result.length; i++) {
      double difference = result[i] - reference[i];
      errors += difference * difference;
      norm += reference[i] * reference[i];
    }
    // NaN, where a result is not finite, is within no tolerance.
    return errors == 0 ? 0 : Math.sqrt(errors / norm);
  }
}
