package dev.warpwright.ir;

/** Operators of two operands. */
public enum BinaryOp {
  ADD("+"),
  SUB("-"),
  MUL("*"),
  /** Integers: quotient rounded toward minus infinity; floats: IEEE division. */
  DIV("/"),
  /** Integers only: {@code a - floor(a / b) * b}, so the sign of the divisor. */
  MOD("%"),
  /** Floats: the other operand if one is NaN, as IEEE minimumNumber. */
  MIN("min"),
  MAX("max"),
  BIT_AND("&"),
  BIT_OR("|"),
  BIT_XOR("^"),
  SHL("<<"),
  /** Arithmetic on signed types, logical on unsigned ones. */
  SHR(">>"),
  EQ("=="),
  NE("!="),
  LT("<"),
  LE("<="),
  GT(">"),
  GE(">="),
  /** On bool; both sides may be evaluated. */
  AND("&&"),
  OR("||");

  private final String text;

  BinaryOp(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }

  /** Whether the result is bool whatever the operands are. */
  public boolean isComparison() {
    return switch (this) {
      case EQ, NE, LT, LE, GT, GE -> true;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR -> false;
    };
  }
}
