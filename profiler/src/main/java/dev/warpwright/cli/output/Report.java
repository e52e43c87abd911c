package dev.warpwright.cli.output;

import dev.warpwright.base.json.Json;

/**
 * The result of a command.
 *
 * @param code with which the program ends: 0 if all that was asked is done and no check failed, 1
 *     if one did, more if a part could not be done
 * @param text what is printed, lines separated by {@code \n}, without the last line end; empty
 *     prints nothing
 * @param json what is printed instead with {@code --json}
 */
public record Report(int code, String text, Json json) {
  private static final int WRONG = 1;

  /** A report of what could be done. */
  public Report(boolean ok, String text, Json json) {
    this(ok ? 0 : WRONG, text, json);
  }

  /** Whether all that was asked is done and no check failed. */
  public boolean ok() {
    return code == 0;
  }

  /** The code of two results together: what is wrong comes before what could not be done. */
  static int worse(int a, int b) {
    return a == WRONG || b == WRONG ? WRONG : Math.max(a, b);
  }
}
