package dev.warpwright.base;

/**
 * A device, a driver or a toolchain is missing or has failed. The message is one line; the command
 * line prints it and exits with 3.
 */
public class DeviceError extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public DeviceError(String message) {
    super(message);
  }

  public DeviceError(String message, Throwable cause) {
    super(message, cause);
  }
}
