package dev.warpwright.sim.expr;

import dev.warpwright.ir.Expr;

/** Compiles calls of intrinsics that give a value. */
public interface CallCompiler {
  LongExpr integer(Expr.Call call);

  DoubleExpr real(Expr.Call call);

  /** Where there are no intrinsics. */
  static CallCompiler none(String name) {
    return new CallCompiler() {
      @Override
      public LongExpr integer(Expr.Call call) {
        throw refused(call);
      }

      @Override
      public DoubleExpr real(Expr.Call call) {
        throw refused(call);
      }

      private IllegalArgumentException refused(Expr.Call call) {
        return new IllegalArgumentException(
            name + ": intrinsic " + call.op().text() + " can only be executed in a grid kernel");
      }
    };
  }
}
