package dev.warpwright.sim;

/** A compiled float expression; the value is one of the expression's type. */
interface DoubleExpr {
  double eval(Frame f);
}
