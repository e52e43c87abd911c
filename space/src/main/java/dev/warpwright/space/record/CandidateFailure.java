package dev.warpwright.space.record;

/** Why a {@code CandidateRunner} has no time for a kernel. */
public final class CandidateFailure extends Exception {
  private static final long serialVersionUID = 1;

  private final FailureReason reason;
  private final boolean poisoned;

  /**
   * A failure.
   *
   * @param reason by which failures are counted
   * @param message one line
   * @param poisoned whether the process can measure nothing more: a fault leaves a device's context
   *     unusable
   */
  public CandidateFailure(FailureReason reason, String message, boolean poisoned) {
    super(message);
    this.reason = reason;
    this.poisoned = poisoned;
  }

  /**
   * A failure after which the process goes on.
   *
   * @param reason by which failures are counted
   * @param message one line
   */
  public CandidateFailure(FailureReason reason, String message) {
    this(reason, message, false);
  }

  /**
   * {@return what an exception says, its first line: records hold no more}
   *
   * @param e what went wrong
   */
  public static String oneLine(Throwable e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.lines().findFirst().orElse(e.toString());
  }

  /** {@return the reason, by which failures are counted} */
  public FailureReason reason() {
    return reason;
  }

  /** {@return whether the process can measure nothing more} */
  public boolean poisoned() {
    return poisoned;
  }
}
