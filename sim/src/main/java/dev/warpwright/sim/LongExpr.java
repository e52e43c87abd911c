package dev.warpwright.sim;

/** A compiled integer or boolean expression; a boolean is 0 or 1. */
interface LongExpr {
  long eval(Frame f);
}
