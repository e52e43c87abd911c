package dev.warpwright.base;

/**
 * A device, a driver or a toolchain is missing or has failed. The message is one line; the command
 * line prints it and exits with 3.
 */
public class DeviceError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * An error without a cause of its own.
   *
   * @param message one line: what is missing or has failed, and what to do
   */
  public DeviceError(String message) {
    super(message);
  }

  /**
   * An error that something else led to.
   *
   * @param message one line: what is missing or has failed, and what to do
   * @param cause what led to it, for logs
   */
  public DeviceError(String message, Throwable cause) {
    super(message, cause);
  }
}
