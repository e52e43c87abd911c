package dev.warpwright.jvm;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;

/** Functions that generated code calls. */
final class HostMath {
  private static final double TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);

  private HostMath() {}

  static double exp2(double x) {
    return Math.pow(2, x);
  }

  static double rsqrt(double x) {
    return 1 / Math.sqrt(x);
  }

  static double rcp(double x) {
    return 1 / x;
  }

  /**
   * The error function, within a few ulp of double. All terms of the series {@code 2/√π · e^{-x²} ·
   * Σ 2ⁿ x^{2n+1} / (1·3·…·(2n+1))} are positive, so nothing cancels.
   */
  static double erf(double x) {
    double a = Math.abs(x);
    if (!(a < 6)) {
      return Double.isNaN(x) ? x : Math.copySign(1, x);
    }
    double term = a;
    double sum = a;
    for (int n = 1; term > sum * 0x1p-54; n++) {
      term *= 2 * a * a / (2 * n + 1);
      sum += term;
    }
    return Math.copySign(Math.min(1, TWO_OVER_SQRT_PI * Math.exp(-a * a) * sum), x);
  }

  static float max(float a, float b) {
    return Float.isNaN(a) ? b : Float.isNaN(b) ? a : Math.max(a, b);
  }

  static float min(float a, float b) {
    return Float.isNaN(a) ? b : Float.isNaN(b) ? a : Math.min(a, b);
  }

  static double max(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.max(a, b);
  }

  static double min(double a, double b) {
    return Double.isNaN(a) ? b : Double.isNaN(b) ? a : Math.min(a, b);
  }

  static float loadF16(short bits) {
    return Float.float16ToFloat(bits);
  }

  static float loadBf16(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  static float loadE4m3(byte bits) {
    return Numerics.e4m3ToFloat(bits);
  }

  static float loadE5m2(byte bits) {
    return Numerics.e5m2ToFloat(bits);
  }

  static short storeF16(float value) {
    return Float.floatToFloat16(value);
  }

  static short storeBf16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) 0x7FFF;
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  static byte storeE4m3(float value) {
    return Numerics.e4m3Bits(value);
  }

  static byte storeE5m2(float value) {
    return Numerics.e5m2Bits(value);
  }

  static float roundF16(double value) {
    return (float) Numerics.round(DType.F16, value);
  }

  static float roundBf16(double value) {
    return (float) Numerics.round(DType.BF16, value);
  }

  static float roundE4m3(double value) {
    return (float) Numerics.round(DType.F8E4M3, value);
  }

  static float roundE5m2(double value) {
    return (float) Numerics.round(DType.F8E5M2, value);
  }

  /** Truncates toward zero and saturates to {@code low … high}; NaN gives 0. */
  static int toInt(double value, int low, int high) {
    return Math.clamp((long) value, low, high);
  }

  static int toU32(double value) {
    return (int) Math.clamp((long) value, 0, 0xFFFF_FFFFL);
  }

  static long toU64(double value) {
    if (!(value > 0)) {
      return 0;
    }
    if (value >= 0x1p64) {
      return -1;
    }
    return value < 0x1p63 ? (long) value : (long) (value - 0x1p63) + Long.MIN_VALUE;
  }

  static double fromU64(long value) {
    // Halving keeps the lowest bit sticky, so that rounding happens once.
    return value >= 0 ? value : ((value >>> 1) | (value & 1)) * 2.0;
  }

  /** An operator by number, lane by lane, for the functions that have no fast vector form. */
  static FloatVector lanes(FloatVector a, FloatVector b, int function) {
    float[] x = a.toArray();
    float[] y = b.toArray();
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) apply(x[i], y[i], function);
    }
    return FloatVector.fromArray(a.species(), x, 0);
  }

  static DoubleVector lanes(DoubleVector a, DoubleVector b, int function) {
    double[] x = a.toArray();
    double[] y = b.toArray();
    for (int i = 0; i < x.length; i++) {
      x[i] = apply(x[i], y[i], function);
    }
    return DoubleVector.fromArray(a.species(), x, 0);
  }

  static final int EXP = 0;
  static final int EXP2 = 1;
  static final int LOG = 2;
  static final int SIN = 3;
  static final int COS = 4;
  static final int TANH = 5;
  static final int ERF = 6;
  static final int POW = 7;
  static final int FLOOR = 8;
  static final int CEIL = 9;

  private static double apply(double x, double y, int function) {
    return switch (function) {
      case EXP -> Math.exp(x);
      case EXP2 -> exp2(x);
      case LOG -> Math.log(x);
      case SIN -> Math.sin(x);
      case COS -> Math.cos(x);
      case TANH -> Math.tanh(x);
      case ERF -> erf(x);
      case POW -> Math.pow(x, y);
      case FLOOR -> Math.floor(x);
      case CEIL -> Math.ceil(x);
      default -> throw new IllegalArgumentException("function " + function);
    };
  }
}
