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
  private static final int F32_FRACTION_BITS = 23;
  private static final int NAN = 0x7FFFFFFF;

  /** Significands (signed, with the leading one) of the operands, and their exponents. */
  record Operand(int[] significand, int[] exponent, float[] value, int fractionBits) {}

  private TensorCore() {}

  /** Operands of f16 from their bits. */
  static Operand f16(short[] bits) {
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] = Numerics.f16ToFloat(bits[i]);
    }
    return decode(values, 10, -14);
  }

  /** Operands of bf16 from their bits. */
  static Operand bf16(short[] bits) {
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] = Numerics.bf16ToFloat(bits[i]);
    }
    return decode(values, 7, -126);
  }

  /** Operands of tf32 from f32 bits, of which the low 13 are ignored. */
  static Operand tf32(int[] bits) {
    float[] values = new float[bits.length];
    for (int i = 0; i < bits.length; i++) {
      values[i] = Float.intBitsToFloat(bits[i] & 0xFFFFE000);
    }
    return decode(values, 10, -126);
  }

  private static Operand decode(float[] values, int fractionBits, int minExponent) {
    int[] significand = new int[values.length];
    int[] exponent = new int[values.length];
    for (int i = 0; i < values.length; i++) {
      if (Float.isFinite(values[i])) {
        exponent[i] = Math.max(Math.getExponent(values[i]), minExponent);
        significand[i] = (int) Math.scalb((double) values[i], fractionBits - exponent[i]);
      }
    }
    return new Operand(significand, exponent, values, fractionBits);
  }

  /**
   * {@code acc + Σₖ a[aStart + k] · b[bStart + k]} over {@code count} products.
   *
   * @param acc bits of an f32
   * @return bits of an f32
   */
  static int sum(int acc, Operand a, int aStart, Operand b, int bStart, int count) {
    float accValue = Float.intBitsToFloat(acc);
    int largest = Integer.MIN_VALUE;
    boolean finite = Float.isFinite(accValue);
    if (accValue != 0 && finite) {
      largest = Math.max(Math.getExponent(accValue), Float.MIN_EXPONENT);
    }
    for (int k = 0; k < count; k++) {
      finite &= Float.isFinite(a.value[aStart + k]) && Float.isFinite(b.value[bStart + k]);
      if (a.significand[aStart + k] != 0 && b.significand[bStart + k] != 0) {
        largest = Math.max(largest, a.exponent[aStart + k] + b.exponent[bStart + k]);
      }
    }
    if (!finite) {
      return special(accValue, a, aStart, b, bStart, count);
    }
    if (largest == Integer.MIN_VALUE) {
      return 0;
    }
    long sum = 0;
    if (accValue != 0) {
      int exponent = Math.max(Math.getExponent(accValue), Float.MIN_EXPONENT);
      long significand = (long) Math.scalb((double) accValue, F32_FRACTION_BITS - exponent);
      sum += aligned(significand, FRACTION_BITS - F32_FRACTION_BITS - (largest - exponent));
    }
    int productBits = a.fractionBits + b.fractionBits;
    for (int k = 0; k < count; k++) {
      long product = (long) a.significand[aStart + k] * b.significand[bStart + k];
      if (product != 0) {
        int exponent = a.exponent[aStart + k] + b.exponent[bStart + k];
        sum += aligned(product, FRACTION_BITS - productBits - (largest - exponent));
      }
    }
    return truncated(sum, largest - FRACTION_BITS);
  }

  /** {@code value · 2^shift}, toward zero. */
  private static long aligned(long value, int shift) {
    if (shift >= 0) {
      return value << shift;
    }
    if (shift <= -63) {
      return 0;
    }
    long magnitude = Math.abs(value) >> -shift;
    return value < 0 ? -magnitude : magnitude;
  }

  /** Bits of {@code sum · 2^scale} as f32, toward zero; infinite where it is too large. */
  private static int truncated(long sum, int scale) {
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
