package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.type.Numerics;

/**
 * The sum that a tensor core forms for one output element: products and accumulator aligned to the
 * greatest exponent, cut off {@value #FRACTION_BITS} bits below it, added exactly, and the sum cut
 * off to f32, or rounded to the nearest f16 where accumulators are f16.
 *
 * <p>That is what Hopper does with all of K of one {@code mma.sync} (MMA-Sim, Xie et al. 2025;
 * Khattak and Mikaitis, whose vectors an H100 and an H200 reproduce bit for bit). Ampere and Ada
 * sum in groups of half that K with one bit less. PTX leaves all of this open, so results are
 * compared with a tolerance, never bit by bit.
 */
final class TensorCore {
  private static final int FRACTION_BITS = 25;
  private static final int COARSE_FRACTION_BITS = 13;

  /** Exponent of the smallest normal f16, which subnormals count as having. */
  private static final int F16_LEAST_EXPONENT = -14;

  private static final short F16_NAN = 0x7FFF;
  private static final int F32_FRACTION_BITS = 23;
  private static final int NAN = 0x7FFFFFFF;

  /** Exponent of a zero: far below that of any product. */
  private static final int ZERO_EXPONENT = -10_000;

  /**
   * Values of the operands and their exponents, as the hardware counts them.
   *
   * @param finite whether all values are
   */
  record Operand(int[] exponent, float[] value, boolean finite) {}

  /** What becomes of the exact sum of what was cut off. */
  enum Rounding {
    /** Cut off to f32. */
    F32(FRACTION_BITS),
    /**
     * As Hopper's warpgroup products of 8-bit floats do it: cut off {@value #COARSE_FRACTION_BITS}
     * bits below the greatest exponent, and the sum to as many (measured on an H100 for sums that
     * begin at zero).
     */
    COARSE(COARSE_FRACTION_BITS),
    /**
     * To the nearest f16, ties to even, infinite beyond its range; so once for all products of an
     * instruction. Accumulators are f16 values in the bits of an f32.
     */
    F16(FRACTION_BITS);

    private final int fractionBits;

    Rounding(int fractionBits) {
      this.fractionBits = fractionBits;
    }
  }

  private TensorCore() {}

  /** Bits of an f32 of the same value as an f16, whose bits are the low ones. */
  static int f32OfF16(int bits) {
    return Float.floatToRawIntBits(Numerics.f16ToFloat((short) bits));
  }

  /** Bits of an f16 of the same value as an f32, which is one. */
  static int f16OfF32(int bits) {
    float value = Float.intBitsToFloat(bits);
    return (Float.isNaN(value) ? F16_NAN : Numerics.f16Bits(value)) & 0xFFFF;
  }

  /**
   * Operands from the bits of their elements.
   *
   * @param bits those above an element's size are ignored; of tf32 the low 13 are
   */
  static Operand operand(MatrixMeanings.Input input, int[] bits) {
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] =
          switch (input) {
            case F16 -> Numerics.f16ToFloat((short) bits[i]);
            case BF16 -> Numerics.bf16ToFloat((short) bits[i]);
            case TF32 -> Float.intBitsToFloat(bits[i] & 0xFFFFE000);
            case E4M3 -> Numerics.e4m3ToFloat((byte) bits[i]);
            case E5M2 -> Numerics.e5m2ToFloat((byte) bits[i]);
            case S8 -> throw new IllegalArgumentException("integers have no exponents");
          };
    }
    int least =
        switch (input) {
          case F16, E5M2 -> -14;
          case BF16, TF32 -> -126;
          case E4M3 -> -6;
          case S8 -> 0;
        };
    int[] exponents = new int[values.length];
    boolean finite = true;
    for (int i = 0; i < values.length; i++) {
      int exponent = Math.getExponent(values[i]);
      finite &= exponent <= Float.MAX_EXPONENT;
      exponents[i] = values[i] == 0 ? ZERO_EXPONENT : Math.max(exponent, least);
    }
    return new Operand(exponents, values, finite);
  }

  /**
   * {@code acc + Σₖ a[aStart + k] · b[bStart + k]} over {@code count} products.
   *
   * @param acc bits of an f32
   * @return bits of an f32
   */
  static int sum(int acc, Operand a, int aStart, Operand b, int bStart, int count) {
    return sum(acc, a, aStart, b, bStart, count, Rounding.F32);
  }

  /** The same with another rounding. */
  static int sum(
      int acc, Operand a, int aStart, Operand b, int bStart, int count, Rounding rounding) {
    int largest = exponent(acc, rounding);
    if (largest > Float.MAX_EXPONENT
        || !(a.finite && b.finite) && !finite(a, aStart, b, bStart, count)) {
      return special(Float.intBitsToFloat(acc), a, aStart, b, bStart, count);
    }
    for (int k = 0; k < count; k++) {
      largest = Math.max(largest, a.exponent[aStart + k] + b.exponent[bStart + k]);
    }
    double scale = scale(rounding.fractionBits, largest);
    long sum = (long) (Float.intBitsToFloat(acc) * scale);
    for (int k = 0; k < count; k++) {
      sum += (long) ((double) a.value[aStart + k] * b.value[bStart + k] * scale);
    }
    return rounded(sum, largest - rounding.fractionBits, rounding);
  }

  /** Bits of {@code sum · 2^scale} as f32. */
  private static int rounded(long sum, int scale, Rounding rounding) {
    return switch (rounding) {
      case F32 -> truncated(sum, scale);
      case COARSE -> coarse(truncated(sum, scale));
      case F16 ->
          // Some 31 bits: exact in double, hence rounded once.
          f32OfF16(Numerics.f16Bits(Math.scalb((double) sum, scale)));
    };
  }

  private static int coarse(int bits) {
    boolean finite = (bits >>> F32_FRACTION_BITS & 0xFF) != 0xFF;
    return finite ? bits & -1 << F32_FRACTION_BITS - COARSE_FRACTION_BITS : bits;
  }

  /**
   * What makes a value a number of units of the sum. Its products are exact in {@code double}, and
   * a cast to an integer cuts off toward zero as the hardware does.
   */
  private static double scale(int fractionBits, int largest) {
    // If all are zero, whatever the scale is.
    long exponent = fractionBits - Math.max(largest, ZERO_EXPONENT / 16);
    return Double.longBitsToDouble(exponent + Double.MAX_EXPONENT << 52);
  }

  /**
   * {@code C + A · Bᵀ}, each element as {@link #sum} forms it; neighbouring columns are computed
   * together.
   *
   * @param c bits of the f32 elements, row by row, which are replaced
   * @param a rows × depth
   * @param b columns × depth
   */
  static void accumulate(
      int[] c, Operand a, Operand b, int rows, int columns, int depth, Rounding rounding) {
    if (!a.finite || !b.finite) {
      for (int i = 0; i < rows * columns; i++) {
        int aStart = i / columns * depth;
        int bStart = i % columns * depth;
        c[i] = sum(c[i], a, aStart, b, bStart, depth, rounding);
      }
      return;
    }
    int fractionBits = rounding.fractionBits;
    double[] values = new double[depth * columns];
    int[] exponents = new int[depth * columns];
    for (int n = 0; n < columns; n++) {
      for (int k = 0; k < depth; k++) {
        values[k * columns + n] = b.value[n * depth + k];
        exponents[k * columns + n] = b.exponent[n * depth + k];
      }
    }
    int[] largest = new int[columns];
    double[] scales = new double[columns];
    long[] sums = new long[columns];
    for (int row = 0; row < rows; row++) {
      for (int n = 0; n < columns; n++) {
        largest[n] = exponent(c[row * columns + n], rounding);
      }
      for (int k = 0; k < depth; k++) {
        largest(largest, a.exponent[row * depth + k], exponents, k * columns);
      }
      for (int n = 0; n < columns; n++) {
        scales[n] = scale(fractionBits, largest[n]);
        sums[n] = (long) (Float.intBitsToFloat(c[row * columns + n]) * scales[n]);
      }
      for (int k = 0; k < depth; k++) {
        add(sums, a.value[row * depth + k], values, k * columns, scales);
      }
      for (int n = 0; n < columns; n++) {
        int at = row * columns + n;
        if (largest[n] > Float.MAX_EXPONENT && exponent(c[at], rounding) > Float.MAX_EXPONENT) {
          c[at] = special(Float.intBitsToFloat(c[at]), a, row * depth, b, n * depth, depth);
        } else {
          c[at] = rounded(sums[n], largest[n] - fractionBits, rounding);
        }
      }
    }
  }

  /** The exponent of an accumulator; 128 if it is not finite. */
  private static int exponent(int bits, Rounding rounding) {
    int exponent = bits >>> F32_FRACTION_BITS & 0xFF;
    int value =
        exponent != 0
            ? exponent - 127
            : (bits & (1 << F32_FRACTION_BITS) - 1) == 0 ? ZERO_EXPONENT : Float.MIN_EXPONENT;
    return rounding == Rounding.F16 && value != ZERO_EXPONENT
        ? Math.max(value, F16_LEAST_EXPONENT)
        : value;
  }

  private static void largest(int[] largest, int exponent, int[] others, int from) {
    for (int n = 0; n < largest.length; n++) {
      largest[n] = Math.max(largest[n], exponent + others[from + n]);
    }
  }

  private static void add(long[] sums, double value, double[] others, int from, double[] scales) {
    for (int n = 0; n < sums.length; n++) {
      sums[n] += (long) (value * others[from + n] * scales[n]);
    }
  }

  private static boolean finite(Operand a, int aStart, Operand b, int bStart, int count) {
    for (int k = 0; k < count; k++) {
      if (!Float.isFinite(a.value[aStart + k]) || !Float.isFinite(b.value[bStart + k])) {
        return false;
      }
    }
    return true;
  }

  /** Bits of {@code sum · 2^scale} as f32, toward zero; infinite where it is too large. */
  private static int truncated(long sum, int scale) {
    if (sum == 0) {
      return 0;
    }
    long magnitude = Math.abs(sum);
    int excess = 63 - Long.numberOfLeadingZeros(magnitude) - F32_FRACTION_BITS;
    int exponent = scale + excess + F32_FRACTION_BITS + 127;
    if (exponent >= 1 && exponent <= 254) {
      long significand = excess >= 0 ? magnitude >>> excess : magnitude << -excess;
      int bits = exponent << F32_FRACTION_BITS | (int) significand & (1 << F32_FRACTION_BITS) - 1;
      return sum < 0 ? bits | 1 << 31 : bits;
    }
    double exact = Math.scalb((double) sum, scale);
    float f = (float) exact;
    if (Float.isFinite(f) && Math.abs((double) f) > Math.abs(exact)) {
      f = Float.intBitsToFloat(Float.floatToRawIntBits(f) - 1);
    }
    return Float.floatToRawIntBits(f);
  }

  /** The sum where an operand is infinite or NaN: what IEEE addition gives, NaN canonical. */
  private static int special(float acc, Operand a, int aStart, Operand b, int bStart, int count) {
    double sum = acc;
    for (int k = 0; k < count; k++) {
      sum += (double) a.value[aStart + k] * b.value[bStart + k];
    }
    return Double.isNaN(sum) ? NAN : Float.floatToRawIntBits((float) sum);
  }
}
