package dev.warpwright.base;

/**
 * The input or the request is wrong. The message is one line that says what is wrong, where, and
 * what to do; the command line prints it and exits with 2.
 */
public final class UserError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UserError(String message) {
    super(message);
  }

  public UserError(String message, Throwable cause) {
    super(message, cause);
  }
}
