package dev.warpwright.space;

/** A point of the space that is no kernel, known before anything is compiled. */
public final class Rejected extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String reason;

  /**
   * Rejects.
   *
   * @param reason a short one to count by, for example {@code shared memory}
   * @param message what does not fit, with numbers
   */
  public Rejected(String reason, String message) {
    super(message, null, false, false);
    this.reason = reason;
  }

  /** {@return why, in words that are counted} */
  public String reason() {
    return reason;
  }
}
