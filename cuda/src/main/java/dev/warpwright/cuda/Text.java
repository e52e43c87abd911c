package dev.warpwright.cuda;

/**
 * Printed expression.
 *
 * @param precedence of its outermost operator; higher binds tighter
 */
record Text(String string, int precedence) {
  static final int TERNARY = 1;
  static final int OR = 2;
  static final int AND = 3;
  static final int BIT_OR = 4;
  static final int BIT_XOR = 5;
  static final int BIT_AND = 6;
  static final int EQUALITY = 7;
  static final int RELATIONAL = 8;
  static final int SHIFT = 9;
  static final int ADDITIVE = 10;
  static final int MULTIPLICATIVE = 11;
  static final int UNARY = 12;
  static final int ATOM = 13;

  static Text atom(String string) {
    return new Text(string, ATOM);
  }

  /** The text, in parentheses if it binds less tightly than {@code precedence}. */
  String in(int minimum) {
    return precedence < minimum ? "(" + string + ")" : string;
  }

  @Override
  public String toString() {
    return string;
  }
}
