package dev.warpwright.measure;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.workload.Precision;

/**
 * Sums of products as hardware computes them, by the models that were measured; see SumAccuracy.
 */
final class EmulatedSums {
  private EmulatedSums() {}

  /** The sum of a[first + i] · b[first + i], accumulated by the coarsest hardware there is. */
  static double of(Precision precision, double[] a, double[] b) {
    return switch (precision) {
      case F64 -> chain64(a, b);
      case INT8, UINT8 -> exact(a, b);
      case F16_ACCUMULATORS -> groups(a, b, 8, 24, DType.F16, 0);
      case TF32 -> groups(truncated(a), truncated(b), 4, 24, DType.F32, 23);
      case F16, BF16 -> groups(a, b, 8, 24, DType.F32, 23);
      case E4M3, E5M2 -> groups(a, b, 32, 13, DType.F32, 13);
      case F32 -> chain32(a, b);
    };
  }

  private static double chain64(double[] a, double[] b) {
    double sum = 0;
    for (int k = 0; k < a.length; k++) {
      sum = Math.fma(a[k], b[k], sum);
    }
    return sum;
  }

  private static double exact(double[] a, double[] b) {
    double sum = 0;
    for (int k = 0; k < a.length; k++) {
      sum += a[k] * b[k];
    }
    return sum;
  }

  private static double chain32(double[] a, double[] b) {
    float sum = 0;
    for (int k = 0; k < a.length; k++) {
      sum = Math.fma((float) a[k], (float) b[k], sum);
    }
    return sum;
  }

  /** As hardware that ignores the low bits of its operands. */
  private static double[] truncated(double[] values) {
    double[] result = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      result[i] = Float.intBitsToFloat(Float.floatToRawIntBits((float) values[i]) & ~0x1FFF);
    }
    return result;
  }

  /**
   * Aligned to the greatest exponent of a group and the accumulator, cut off {@code bits} below it,
   * summed, then truncated to {@code fraction} bits, or rounded to f16.
   */
  private static double groups(
      double[] a, double[] b, int group, int bits, DType accumulator, int fraction) {
    double sum = 0;
    for (int first = 0; first < a.length; first += group) {
      int end = Math.min(a.length, first + group);
      int exponent = sum == 0 ? Integer.MIN_VALUE : Math.getExponent(sum);
      for (int k = first; k < end; k++) {
        if (a[k] != 0 && b[k] != 0) {
          exponent = Math.max(exponent, Math.getExponent(a[k]) + Math.getExponent(b[k]));
        }
      }
      if (exponent == Integer.MIN_VALUE) {
        continue;
      }
      double scale = Math.scalb(1.0, bits - exponent);
      double aligned = (double) (long) (sum * scale);
      for (int k = first; k < end; k++) {
        aligned += (double) (long) (a[k] * b[k] * scale);
      }
      sum = aligned / scale;
      if (accumulator == DType.F16) {
        sum = Numerics.round(DType.F16, sum);
      } else if (sum != 0) {
        double last = Math.scalb(1.0, Math.getExponent(sum) - fraction);
        sum = (double) (long) (sum / last) * last;
      }
    }
    return sum;
  }
}
