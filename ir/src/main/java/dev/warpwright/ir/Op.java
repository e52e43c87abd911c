package dev.warpwright.ir;

/** What an {@link Expr.Call} calls: a mathematical function or an intrinsic of a target. */
public sealed interface Op permits MathOp, Intrinsic {
  /** {@return the name in the text form} */
  String text();
}
