package dev.warpwright.ir.visit;

import dev.warpwright.ir.Expr;

/** A rewriter that knows whether it is on a side of a select, which its condition guards. */
public class GuardedRewriter extends Rewriter {
  /** A rewriter that changes nothing until methods are overridden. */
  public GuardedRewriter() {}

  private boolean guarded;

  /** {@return whether what is rewritten now may not be evaluated} */
  protected final boolean isGuarded() {
    return guarded;
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Select(Expr condition, Expr then, Expr otherwise)) {
      Expr newCondition = expr(condition);
      boolean before = guarded;
      guarded = true;
      Expr newThen = expr(then);
      Expr newOtherwise = expr(otherwise);
      guarded = before;
      return newCondition == condition && newThen == then && newOtherwise == otherwise
          ? e
          : new Expr.Select(newCondition, newThen, newOtherwise);
    }
    return super.expr(e);
  }
}
