package dev.warpwright.sim.expr;

/** A compiled float expression; the value is one of the expression's type. */
public interface DoubleExpr {
  double eval(Frame f);
}
