package dev.warpwright.sim.lane;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.sim.expr.CallCompiler;
import dev.warpwright.sim.expr.Context;
import dev.warpwright.sim.expr.DoubleExpr;
import dev.warpwright.sim.expr.ExprCompiler;
import dev.warpwright.sim.expr.LongExpr;
import dev.warpwright.sim.expr.OperandCode;

/** Expressions at places where a warp may stop, as bytecode. */
final class CompiledExprs extends ExprCompiler {
  private final CallCompiler calls;
  private final WarpCodeBuilder code;

  CompiledExprs(Context context, Stmt where, CallCompiler calls, WarpCodeBuilder code) {
    super(context, where, calls);
    this.calls = calls;
    this.code = code;
  }

  /** Whether a closure is as good. */
  private static boolean isSimple(Expr e) {
    return e instanceof Var || e instanceof Expr.IntImm || e instanceof Expr.FloatImm;
  }

  @Override
  public LongExpr integer(Expr e) {
    return isSimple(e) ? super.integer(e) : code.integer(where(), calls, e, Form.VALUE);
  }

  @Override
  public LongExpr index(Expr e) {
    return isSimple(e) ? super.index(e) : code.integer(where(), calls, e, Form.INDEX);
  }

  @Override
  public LongExpr bits(Expr e) {
    return isSimple(e) ? super.bits(e) : code.integer(where(), calls, e, Form.BITS);
  }

  @Override
  public DoubleExpr real(Expr e) {
    return isSimple(e) ? super.real(e) : code.real(where(), calls, e);
  }

  @Override
  public OperandCode operand(Expr e) {
    return code.operand(where(), calls, e);
  }

  /** What an expression is computed for. */
  enum Form {
    VALUE,
    /** In 64 bits, where it is a sum of variables times constants. */
    INDEX,
    BITS
  }
}
