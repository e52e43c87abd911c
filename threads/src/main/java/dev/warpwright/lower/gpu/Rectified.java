package dev.warpwright.lower.gpu;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import org.jspecify.annotations.Nullable;

/** What is cut off at zero, which instructions do by the way. */
public final class Rectified {
  private Rectified() {}

  /**
   * x, of {@code x <= 0 ? 0 : x}, which keeps what is not a number as these instructions do; else
   * null. {@code x < 0 ? 0 : x} differs in the sign of a zero, which compares equal. Where a mask
   * makes it zero elsewhere, the mask stays.
   */
  public static @Nullable Expr of(Expr e) {
    if (e instanceof Expr.Select(Expr mask, Expr then, Expr zero)
        && Exprs.f32(0).equals(zero)
        && then instanceof Expr.Select) {
      Expr positive = of(then);
      return positive == null ? null : Exprs.select(mask, positive, zero);
    }
    return e instanceof Expr.Select(Expr.Binary(BinaryOp op, Expr a, Expr b), Expr t, Expr f)
            && (op == BinaryOp.LE || op == BinaryOp.LT)
            && a.equals(f)
            && b.equals(t)
            && Exprs.f32(0).equals(t)
        ? f
        : null;
  }
}
