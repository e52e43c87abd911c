package dev.warpwright.bench;

import java.util.HashMap;
import java.util.Map;

/** The command line: {@code KEY=VALUE} each. */
final class Arguments {
  private final Map<String, String> values = new HashMap<>();

  Arguments(String[] args) {
    for (String arg : args) {
      int at = arg.indexOf('=');
      if (at < 0) {
        throw new IllegalArgumentException("'" + arg + "' is not KEY=VALUE");
      }
      values.put(arg.substring(0, at), arg.substring(at + 1));
    }
  }

  String text(String key, String otherwise) {
    return values.getOrDefault(key, otherwise);
  }

  int number(String key, int otherwise) {
    return Integer.parseInt(text(key, Integer.toString(otherwise)));
  }
}
