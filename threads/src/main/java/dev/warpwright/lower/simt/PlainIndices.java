package dev.warpwright.lower.simt;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.visit.Rewriter;

/**
 * Simplifies expressions with what the ranges of loops and values say, and nothing else: not with
 * what the condition around them says, so that equal indices look equal wherever they stand.
 */
final class PlainIndices extends Rewriter {
  private Bounds bounds;

  private PlainIndices(Bounds bounds) {
    this.bounds = bounds;
  }

  static PrimFunc apply(PrimFunc func) {
    return func.withBody(new PlainIndices(Simplify.ofParams(func.params())).stmt(func.body()));
  }

  @Override
  public Expr expr(Expr e) {
    return new Simplifier(bounds).expr(e);
  }

  @Override
  public Stmt stmt(Stmt s) {
    Bounds outside = bounds;
    switch (s) {
      case Stmt.For loop -> bounds = bounds.withRange(loop.var(), loop.min(), loop.extent());
      case Stmt.Let let -> bounds = bounds.withValue(let.var(), let.value());
      default -> {}
    }
    Stmt result = super.stmt(s);
    bounds = outside;
    return result;
  }
}
