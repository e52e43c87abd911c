package dev.warpwright.lower.pass;

/** A tile program that this lowering cannot carry out; the message says which statement and why. */
public final class LoweringException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public LoweringException(String message) {
    super(message);
  }
}
