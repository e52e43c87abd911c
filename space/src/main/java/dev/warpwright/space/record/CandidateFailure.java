package dev.warpwright.space.record;

/** Why a {@link CandidateRunner} has no time for a kernel. */
public final class CandidateFailure extends Exception {
  private static final long serialVersionUID = 1;

  private final FailureReason reason;
  private final boolean poisoned;

  /**
   * A failure.
   *
   * @param message one line
   * @param poisoned whether the process can measure nothing more: a fault leaves a device's context
   *     unusable
   */
  public CandidateFailure(FailureReason reason, String message, boolean poisoned) {
    super(message);
    this.reason = reason;
    this.poisoned = poisoned;
  }

  public CandidateFailure(FailureReason reason, String message) {
    this(reason, message, false);
  }

  public FailureReason reason() {
    return reason;
  }

  public boolean poisoned() {
    return poisoned;
  }
}
