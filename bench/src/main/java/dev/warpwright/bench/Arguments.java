package dev.warpwright.bench;

import dev.warpwright.base.UserError;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The command line: {@code KEY=VALUE} each. */
final class Arguments {
  private final Map<String, String> values = new HashMap<>();

  /**
   * Parses.
   *
   * @throws UserError if an argument is not one of the known keys with a value
   */
  Arguments(String[] args, String... known) {
    for (String arg : args) {
      int at = arg.indexOf('=');
      if (at < 0 || !List.of(known).contains(arg.substring(0, at))) {
        throw new UserError(
            "'" + arg + "' is not KEY=VALUE with one of the keys " + String.join(", ", known));
      }
      values.put(arg.substring(0, at), arg.substring(at + 1));
    }
  }

  /** Runs a program that ends with a line and exit code 2 where its input is wrong. */
  static void guard(Runnable program) {
    try {
      program.run();
    } catch (UserError e) {
      System.err.println("bench: " + e.getMessage());
      System.exit(2);
    }
  }

  String text(String key, String otherwise) {
    return values.getOrDefault(key, otherwise);
  }

  int number(String key, int otherwise) {
    String value = text(key, Integer.toString(otherwise));
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new UserError(key + "=" + value + ": give a whole number");
    }
  }
}
