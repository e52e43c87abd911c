package dev.warpwright.cli.command;

/** The exit codes of every command; scripts rely on them. */
public final class ExitCode {
  /** Done, and the result was verified where there is one. */
  public static final int OK = 0;

  /** The command ran, but the result is wrong or a check failed. */
  public static final int WRONG = 1;

  /** Bad usage or bad input; one line on standard error says what, where, and what to do. */
  public static final int USAGE = 2;

  /** A device, a driver or a toolchain is missing or failed, or Warpwright itself did. */
  public static final int DEVICE = 3;

  private ExitCode() {}
}
