package dev.warpwright.ir;

import dev.warpwright.ir.type.Type;

/** An associative combination with its neutral element. */
public enum ReduceOp {
  /** The sum. */
  SUM("sum"),
  /** The largest. */
  MAX("max");

  private final String text;

  ReduceOp(String text) {
    this.text = text;
  }

  /** {@return the word in the text form} */
  public String text() {
    return text;
  }

  /**
   * {@return {@code a} combined with {@code b}}
   *
   * @param a what has been combined
   * @param b what comes to it, of the same type
   */
  public Expr combine(Expr a, Expr b) {
    return switch (this) {
      case SUM -> Exprs.add(a, b);
      case MAX -> Exprs.max(a, b);
    };
  }

  /**
   * {@return the value that changes nothing}
   *
   * @param type of the values, scalar
   */
  public Expr identity(Type type) {
    return switch (this) {
      case SUM -> Exprs.zero(type);
      case MAX -> new Expr.FloatImm(type, Double.NEGATIVE_INFINITY);
    };
  }
}
