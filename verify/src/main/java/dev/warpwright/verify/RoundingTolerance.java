package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.Walk;

/**
 * By how much, in the norm, a kernel's results may lie apart from those of the interpreter without
 * a mistake: tensor cores sum in another order, and a GPU's exponentials and sines are off by their
 * last places. Where such a value is rounded to fewer digits on its way, a difference of a last
 * place there becomes one of the narrower type's.
 */
public final class RoundingTolerance {
  /** Units in the last place by which sums in another order may move a result. */
  private static final double ULPS = 2;

  private RoundingTolerance() {}

  /** For what the kernel leaves in the buffer; 0 for integers. */
  public static double of(Kernel kernel, Buffer buffer) {
    double[] greatest = {of(buffer.dtype())};
    if (greatest[0] > 0) {
      Walk.expressions(
          kernel.body(),
          expr -> {
            if (expr instanceof Expr.Cast(var type, Expr value)
                && !(value instanceof Expr.Load)
                && value.type().dtype().isFloat()) {
              greatest[0] = Math.max(greatest[0], of(type.dtype()));
            }
          });
    }
    return greatest[0];
  }

  /** For results of a type that nothing narrower precedes. */
  public static double of(DType dtype) {
    return switch (dtype) {
      case F16 -> ULPS * 0x1p-11;
      case BF16 -> ULPS * 0x1p-8;
      case F8E4M3 -> ULPS * 0x1p-4;
      case F8E5M2 -> ULPS * 0x1p-3;
      case F64 -> 1e-14;
      case F32 -> 3e-6;
      case BOOL, I8, U8, I32, U32, I64, U64, MBARRIER, HANDLE -> 0;
    };
  }
}
