package dev.warpwright.sim.lane;

import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.MathFunctions;
import dev.warpwright.sim.memory.Bytes;

/** Arithmetic that compiled regions call, as {@link ExprCompiler} does it. */
public final class RegionMath {
  private static final MathOp[] OPS = MathOp.values();

  private RegionMath() {}

  public static float min(float a, float b) {
    return (float) ExprCompiler.min(a, b);
  }

  public static float max(float a, float b) {
    return (float) ExprCompiler.max(a, b);
  }

  public static float pow(float a, float b) {
    return (float) Math.pow(a, b);
  }

  /** A function of one argument, by its ordinal. */
  public static float apply(float x, int op) {
    return (float) MathFunctions.unary(OPS[op]).apply(x);
  }

  public static float toF16(float x) {
    return (float) Numerics.round(DType.F16, x);
  }

  public static float toBf16(float x) {
    return (float) Numerics.round(DType.BF16, x);
  }

  public static float ofF16(short bits) {
    return Numerics.f16ToFloat(bits);
  }

  public static float ofBf16(short bits) {
    return Numerics.bf16ToFloat(bits);
  }

  public static void putFloat(byte[] b, int at, float value) {
    Bytes.putFloat(b, at, value);
  }

  public static void putF16(byte[] b, int at, float value) {
    Bytes.putReal(DType.F16, b, at, value);
  }

  public static void putBf16(byte[] b, int at, float value) {
    Bytes.putReal(DType.BF16, b, at, value);
  }
}
