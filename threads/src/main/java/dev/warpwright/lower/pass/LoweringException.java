package dev.warpwright.lower.pass;

/** A tile program that this lowering cannot carry out; the message says which statement and why. */
public final class LoweringException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * A program that cannot be lowered.
   *
   * @param message one line: what is in the way, and where
   */
  public LoweringException(String message) {
    super(message);
  }
}
