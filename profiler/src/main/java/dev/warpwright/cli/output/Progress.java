package dev.warpwright.cli.output;

/** Takes lines for a user who waits; the command writes them to standard error. */
@FunctionalInterface
public interface Progress {
  /** Shows one line, without its line end. */
  void say(String line);

  /**
   * Shows where something stands. In a terminal the next line takes its place; elsewhere it is a
   * line like others, and not all are shown.
   *
   * @param news whether it is worth a line of its own
   */
  default void status(String line, boolean news) {
    if (news) {
      say(line);
    }
  }
}
