package dev.warpwright.ir;

/** Operators of two operands. */
public enum BinaryOp {
  /** The sum; of integers it wraps. */
  ADD("+"),
  /** The difference; of integers it wraps. */
  SUB("-"),
  /** The product; of integers it wraps. */
  MUL("*"),
  /** Integers: quotient rounded toward minus infinity; floats: IEEE division. */
  DIV("/"),
  /** Integers only: {@code a - floor(a / b) * b}, so the sign of the divisor. */
  MOD("%"),
  /** Floats: the other operand if one is NaN, as IEEE minimumNumber. */
  MIN("min"),
  /** The larger. Floats: the other operand if one is NaN, as IEEE maximumNumber. */
  MAX("max"),
  /** Bits that both integers have. */
  BIT_AND("&"),
  /** Bits that either integer has. */
  BIT_OR("|"),
  /** Bits that just one integer has. */
  BIT_XOR("^"),
  /** An integer shifted to the left. */
  SHL("<<"),
  /** Arithmetic on signed types, logical on unsigned ones. */
  SHR(">>"),
  /** Whether both are equal; NaN equals nothing. */
  EQ("=="),
  /** Whether both differ; NaN differs from everything. */
  NE("!="),
  /** Whether the first is less. */
  LT("<"),
  /** Whether the first is less or equal. */
  LE("<="),
  /** Whether the first is greater. */
  GT(">"),
  /** Whether the first is greater or equal. */
  GE(">="),
  /** On bool; both sides may be evaluated. */
  AND("&&"),
  /** Whether either bool is true; both sides may be evaluated. */
  OR("||");

  private final String text;

  BinaryOp(String text) {
    this.text = text;
  }

  /** {@return the operator or the function in the text form} */
  public String text() {
    return text;
  }

  /** {@return whether the result is bool whatever the operands are} */
  public boolean isComparison() {
    return switch (this) {
      case EQ, NE, LT, LE, GT, GE -> true;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR -> false;
    };
  }
}
