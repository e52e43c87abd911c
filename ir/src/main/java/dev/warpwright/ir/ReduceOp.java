package dev.warpwright.ir;

import dev.warpwright.ir.type.Type;

/** An associative combination with its neutral element. */
public enum ReduceOp {
  SUM("sum"),
  MAX("max");

  private final String text;

  ReduceOp(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /** {@code a} combined with {@code b}. */
  public Expr combine(Expr a, Expr b) {
    return switch (this) {
      case SUM -> Exprs.add(a, b);
      case MAX -> Exprs.max(a, b);
    };
  }

  /** The value that changes nothing. */
  public Expr identity(Type type) {
    return switch (this) {
      case SUM -> Exprs.zero(type);
      case MAX -> new Expr.FloatImm(type, Double.NEGATIVE_INFINITY);
    };
  }
}
