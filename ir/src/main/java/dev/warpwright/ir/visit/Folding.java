package dev.warpwright.ir.visit;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Stmt;

/** Rebuilds integer operations by the functions that fold constants. */
public final class Folding {
  private Folding() {}

  /**
   * {@return a statement in which sums, products and comparisons of constants are constants}
   *
   * @param s any statement
   */
  public static Stmt stmt(Stmt s) {
    return new Rewriter() {
      @Override
      public Expr expr(Expr e) {
        Expr result = super.expr(e);
        return result instanceof Expr.Binary b && b.type().isScalar() && b.type().dtype().isInt()
            ? binary(b)
            : result;
      }
    }.stmt(s);
  }

  /**
   * {@return the same, or what it folds to}
   *
   * @param b of integers or conditions
   */
  public static Expr binary(Expr.Binary b) {
    return switch (b.op()) {
      case ADD -> Exprs.add(b.a(), b.b());
      case SUB -> Exprs.sub(b.a(), b.b());
      case MUL -> Exprs.mul(b.a(), b.b());
      case DIV -> Exprs.div(b.a(), b.b());
      case MOD -> Exprs.mod(b.a(), b.b());
      case MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          Exprs.fold(b.op(), b.a(), b.b());
    };
  }
}
