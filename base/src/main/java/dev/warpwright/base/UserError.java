package dev.warpwright.base;

/**
 * The input or the request is wrong. The message is one line that says what is wrong, where, and
 * what to do; the command line prints it and exits with 2.
 */
public final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * An error without a cause of its own.
   *
   * @param message one line: what is wrong, where, and what to do
   */
  public UserError(String message) {
    super(message);
  }

  /**
   * An error that something else led to.
   *
   * @param message one line: what is wrong, where, and what to do
   * @param cause what led to it, for logs
   */
  public UserError(String message, Throwable cause) {
    super(message, cause);
  }
}
