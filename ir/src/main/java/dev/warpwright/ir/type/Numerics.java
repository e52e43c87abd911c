package dev.warpwright.ir.type;

/**
 * Rounding of values to the float types, to nearest and ties to even; one place for all executors.
 */
public final class Numerics {
  private Numerics() {}

  /**
   * {@return the value of {@code dtype} nearest to {@code value}; {@code value} itself for f64 and
   * non-floats}
   *
   * @param dtype what is rounded to
   * @param value any, infinite and NaN too
   */
  public static double round(DType dtype, double value) {
    return switch (dtype) {
      case F32 -> (float) value;
      case F16 -> f16ToFloat(f16Bits(value));
      case BF16 -> bf16ToFloat(bf16Bits(value));
      case F8E4M3 -> f8ToFloat(f8Bits(value, 4, 3, false), 4, 3, false);
      case F8E5M2 -> f8ToFloat(f8Bits(value, 5, 2, true), 5, 2, true);
      case F64, BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE -> value;
    };
  }

  /**
   * {@return bits of the f16 nearest to {@code value}, rounded once from double}
   *
   * @param value any; above 65504 and a half step it becomes infinite
   */
  public static short f16Bits(double value) {
    float f = (float) value;
    if (f == value || Double.isNaN(value)) {
      return Float.floatToFloat16(f);
    }
    // Round to odd in f32 first, so that the second rounding cannot see a false tie.
    int bits = Float.floatToRawIntBits(f);
    if ((bits & 1) == 0) {
      boolean tooBig = Math.abs((double) f) > Math.abs(value);
      bits += tooBig ? -1 : 1;
    }
    return Float.floatToFloat16(Float.intBitsToFloat(bits));
  }

  /**
   * {@return the value of an f16, exactly}
   *
   * @param bits of an f16
   */
  public static float f16ToFloat(short bits) {
    return Float.float16ToFloat(bits);
  }

  /**
   * {@return bits of the bf16 nearest to {@code value}, rounded once from double}
   *
   * @param value any; NaN becomes the NaN {@code 0x7FFF}
   */
  public static short bf16Bits(double value) {
    float f = (float) value;
    int bits = Float.floatToRawIntBits(f);
    if (Float.isNaN(f)) {
      return (short) 0x7FFF;
    }
    if (f != value && Float.isFinite(f) && (bits & 1) == 0) {
      bits += Math.abs((double) f) > Math.abs(value) ? -1 : 1;
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  /**
   * {@return the value of a bf16, exactly}
   *
   * @param bits of a bf16
   */
  public static float bf16ToFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /**
   * Bits of an 8-bit float, saturating to the largest finite value as {@code cvt.rn.satfinite}
   * does.
   *
   * @param infinities whether the all-ones exponent is reserved (e5m2) or holds values up to 448
   *     (e4m3)
   */
  static int f8Bits(double value, int exponentBits, int mantissaBits, boolean infinities) {
    int sign = (Double.doubleToRawLongBits(value) < 0) ? 0x80 : 0;
    if (Double.isNaN(value)) {
      return 0x7F;
    }
    double magnitude = Math.abs(value);
    int bias = (1 << (exponentBits - 1)) - 1;
    int largest = infinities ? (((1 << exponentBits) - 1) << mantissaBits) - 1 : 0x7E;
    if (magnitude >= f8ToFloat(largest, exponentBits, mantissaBits, infinities)) {
      return sign | largest;
    }
    int exponent = Math.max(magnitude == 0 ? 1 - bias : Math.getExponent(magnitude), 1 - bias);
    long scaled = (long) Math.rint(Math.scalb(magnitude, mantissaBits - exponent));
    // A carry out of the mantissa moves into the exponent by itself.
    long code = ((long) (exponent + bias - 1) << mantissaBits) + scaled;
    return sign | (int) code;
  }

  static float f8ToFloat(int bits, int exponentBits, int mantissaBits, boolean infinities) {
    int bias = (1 << (exponentBits - 1)) - 1;
    int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
    int mantissa = bits & ((1 << mantissaBits) - 1);
    float sign = (bits & 0x80) != 0 ? -1f : 1f;
    if (exponent == (1 << exponentBits) - 1) {
      if (infinities) {
        return mantissa == 0 ? sign * Float.POSITIVE_INFINITY : Float.NaN;
      }
      if (mantissa == (1 << mantissaBits) - 1) {
        return Float.NaN;
      }
    }
    return exponent == 0
        ? sign * Math.scalb((float) mantissa, 1 - bias - mantissaBits)
        : sign
            * Math.scalb((float) (mantissa | (1 << mantissaBits)), exponent - bias - mantissaBits);
  }

  /**
   * {@return bits of the e4m3 nearest to {@code value}, saturating at 448}
   *
   * @param value any; NaN becomes {@code 0x7F}
   */
  public static byte e4m3Bits(double value) {
    return (byte) f8Bits(value, 4, 3, false);
  }

  /**
   * {@return the value of an e4m3, exactly}
   *
   * @param bits of an e4m3
   */
  public static float e4m3ToFloat(byte bits) {
    return f8ToFloat(bits & 0xFF, 4, 3, false);
  }

  /**
   * {@return bits of the e5m2 nearest to {@code value}, saturating at 57344}
   *
   * @param value any; NaN becomes {@code 0x7F}
   */
  public static byte e5m2Bits(double value) {
    return (byte) f8Bits(value, 5, 2, true);
  }

  /**
   * {@return the value of an e5m2, exactly}
   *
   * @param bits of an e5m2
   */
  public static float e5m2ToFloat(byte bits) {
    return f8ToFloat(bits & 0xFF, 5, 2, true);
  }

  /**
   * {@return what {@code cvt.rna.tf32.f32} gives: 10 fraction bits, ties away from zero}
   *
   * @param value any; infinities and NaN stay as they are
   */
  public static float tf32(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & 0x7F800000) == 0x7F800000) {
      return value;
    }
    return Float.intBitsToFloat((bits + 0x1000) & 0xFFFFE000);
  }

  /**
   * {@return a · b + c in f32, rounded once, as a number from 0 to 1; 0 for NaN}
   *
   * @param a any
   * @param b any
   * @param c any
   */
  public static float saturatedFma(float a, float b, float c) {
    float sum = Math.fma(a, b, c);
    return sum > 0 ? Math.min(sum, 1) : 0;
  }
}
