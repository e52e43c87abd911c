package dev.warpwright.cli.output;

/** Takes lines for a user who waits; the command writes them to standard error. */
@FunctionalInterface
public interface Progress {
  /** Shows one line, without its line end. */
  void say(String line);
}
