package dev.warpwright.compiler.bench;

import java.util.stream.IntStream;

/**
 * How far a result is from its reference, gathered piece by piece.
 *
 * @param errors Σ (result − reference)² where both are finite
 * @param norm Σ reference² there
 * @param nonFinite elements where one of the two is not finite
 * @param maxAbs greatest difference of finite elements
 */
record OutputError(double errors, double norm, long nonFinite, double maxAbs) {
  static final OutputError NONE = new OutputError(0, 0, 0, 0);
  private static final int CHUNK = 1 << 14;

  /** Compares two matrices of one shape. */
  static OutputError of(HostMatrix result, HostMatrix reference) {
    int count = result.count();
    if (count != reference.count()) {
      throw new IllegalArgumentException(count + " elements against " + reference.count());
    }
    return IntStream.range(0, Math.ceilDiv(count, CHUNK))
        .parallel()
        .mapToObj(
            chunk ->
                piece(
                    result, reference, chunk * CHUNK, (int) Math.min(count, (chunk + 1L) * CHUNK)))
        .reduce(NONE, OutputError::plus);
  }

  private static OutputError piece(HostMatrix result, HostMatrix reference, int from, int to) {
    double errors = 0;
    double norm = 0;
    double maxAbs = 0;
    long nonFinite = 0;
    for (int i = from; i < to; i++) {
      double x = result.get(i);
      double y = reference.get(i);
      if (Double.isFinite(x) && Double.isFinite(y)) {
        errors += (x - y) * (x - y);
        norm += y * y;
        maxAbs = Math.max(maxAbs, Math.abs(x - y));
      } else {
        nonFinite++;
      }
    }
    return new OutputError(errors, norm, nonFinite, maxAbs);
  }

  OutputError plus(OutputError other) {
    return new OutputError(
        errors + other.errors,
        norm + other.norm,
        nonFinite + other.nonFinite,
        Math.max(maxAbs, other.maxAbs));
  }

  /** ‖result − reference‖ / ‖reference‖ over the finite elements. */
  double relative() {
    return errors == 0 ? 0 : norm == 0 ? Double.POSITIVE_INFINITY : Math.sqrt(errors / norm);
  }

  boolean within(double tolerance) {
    return nonFinite == 0 && relative() <= tolerance;
  }
}
