package dev.warpwright.ir;

/** Operators of one operand. */
public enum UnaryOp {
  NEG("-"),
  /** Logical, on bool. */
  NOT("!"),
  BIT_NOT("~");

  private final String text;

  UnaryOp(String text) {
    this.text = text;
  }

  public String text() {
    return text;
  }
}
