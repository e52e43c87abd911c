package dev.warpwright.sim.expr;

/** A compiled integer or boolean expression; a boolean is 0 or 1. */
public interface LongExpr {
  long eval(Frame f);
}
