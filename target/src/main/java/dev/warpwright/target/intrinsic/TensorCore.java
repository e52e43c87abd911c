package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Numerics;

/**
 * The sum that a tensor core forms for one output element: products and accumulator aligned to the
 * greatest exponent, cut off {@value #FRACTION_BITS} bits below it, added exactly, and the sum cut
 * off to f32.
 *
 * <p>That is what Hopper does with all of K of one {@code mma.sync} (MMA-Sim, Xie et al. 2025;
 * Khattak and Mikaitis, whose vectors an H100 and an H200 reproduce bit for bit). Ampere and Ada
 * sum in groups of half that K with one bit less. PTX leaves all of this open, so results are
 * compared with a tolerance, never bit by bit.
 */
final class TensorCore {
  private static final int FRACTION_BITS = 25;
  private static final int COARSE_FRACTION_BITS = 13;
  private static final int F32_FRACTION_BITS = 23;
  private static final int NAN = 0x7FFFFFFF;

  /** Exponent of a zero: far below that of any product. */
  private static final int ZERO_EXPONENT = -10_000;

  /**
   * Significands (signed, with the leading one) of the operands, and their exponents.
   *
   * @param finite whether all values are
   */
  record Operand(
      int[] significand, int[] exponent, float[] value, int fractionBits, boolean finite) {}

  private TensorCore() {}

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
          };
    }
    return switch (input) {
      case F16 -> decode(values, 10, -14);
      case BF16 -> decode(values, 7, -126);
      case TF32 -> decode(values, 10, -126);
      case E4M3 -> decode(values, 3, -6);
      case E5M2 -> decode(values, 2, -14);
    };
  }

  private static Operand decode(float[] values, int fractionBits, int minExponent) {
    int[] significand = new int[values.length];
    int[] exponent = new int[values.length];
    boolean finite = true;
    for (int i = 0; i < values.length; i++) {
      exponent[i] = ZERO_EXPONENT;
      if (!Float.isFinite(values[i])) {
        finite = false;
      } else if (values[i] != 0) {
        exponent[i] = Math.max(Math.getExponent(values[i]), minExponent);
        significand[i] = (int) Math.scalb((double) values[i], fractionBits - exponent[i]);
      }
    }
    return new Operand(significand, exponent, values, fractionBits, finite);
  }

  /**
   * {@code acc + Σₖ a[aStart + k] · b[bStart + k]} over {@code count} products.
   *
   * @param acc bits of an f32
   * @return bits of an f32
   */
  static int sum(int acc, Operand a, int aStart, Operand b, int bStart, int count) {
    return sum(acc, a, aStart, b, bStart, count, FRACTION_BITS);
  }

  /**
   * The same as Hopper's warpgroup products of 8-bit floats form it: cut off {@value
   * #COARSE_FRACTION_BITS} bits below the greatest exponent, and the sum to as many (measured on an
   * H100 for sums that begin at zero).
   */
  static int coarseSum(int acc, Operand a, int aStart, Operand b, int bStart, int count) {
    int bits = sum(acc, a, aStart, b, bStart, count, COARSE_FRACTION_BITS);
    boolean finite = (bits >>> F32_FRACTION_BITS & 0xFF) != 0xFF;
    return finite ? bits & -1 << F32_FRACTION_BITS - COARSE_FRACTION_BITS : bits;
  }

  private static int sum(
      int acc, Operand a, int aStart, Operand b, int bStart, int count, int fractionBits) {
    int accExponent = acc >>> F32_FRACTION_BITS & 0xFF;
    if (accExponent == 0xFF || !(a.finite && b.finite) && !finite(a, aStart, b, bStart, count)) {
      return special(Float.intBitsToFloat(acc), a, aStart, b, bStart, count);
    }
    long accSignificand = acc & (1 << F32_FRACTION_BITS) - 1;
    if (accExponent == 0) {
      accExponent = accSignificand == 0 ? ZERO_EXPONENT : Float.MIN_EXPONENT;
    } else {
      accSignificand |= 1 << F32_FRACTION_BITS;
      accExponent -= 127;
    }
    int largest = accExponent;
    for (int k = 0; k < count; k++) {
      largest = Math.max(largest, a.exponent[aStart + k] + b.exponent[bStart + k]);
    }
    if (largest <= ZERO_EXPONENT / 2) {
      return 0;
    }
    long magnitude =
        aligned(accSignificand, fractionBits - F32_FRACTION_BITS - (largest - accExponent));
    long sum = acc < 0 ? -magnitude : magnitude;
    int room = fractionBits - a.fractionBits - b.fractionBits - largest;
    for (int k = 0; k < count; k++) {
      long product = (long) a.significand[aStart + k] * b.significand[bStart + k];
      long sign = product >> 63;
      int shift = room + a.exponent[aStart + k] + b.exponent[bStart + k];
      sum += (aligned((product ^ sign) - sign, shift) ^ sign) - sign;
    }
    return truncated(sum, largest - fractionBits);
  }

  private static boolean finite(Operand a, int aStart, Operand b, int bStart, int count) {
    for (int k = 0; k < count; k++) {
      if (!Float.isFinite(a.value[aStart + k]) || !Float.isFinite(b.value[bStart + k])) {
        return false;
      }
    }
    return true;
  }

  /** {@code magnitude · 2^shift}, toward zero. */
  private static long aligned(long magnitude, int shift) {
    return shift >= 0 ? magnitude << shift : shift <= -63 ? 0 : magnitude >>> -shift;
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
