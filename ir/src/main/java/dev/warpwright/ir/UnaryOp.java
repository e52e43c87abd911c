package dev.warpwright.ir;

/** Operators of one operand. */
public enum UnaryOp {
  /** The number with the other sign. */
  NEG("-"),
  /** Logical, on bool. */
  NOT("!"),
  /** All bits of an integer the other way. */
  BIT_NOT("~");

  private final String text;

  UnaryOp(String text) {
    this.text = text;
  }

  /** {@return the operator in the text form} */
  public String text() {
    return text;
  }
}
