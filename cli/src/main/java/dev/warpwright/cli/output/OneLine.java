package dev.warpwright.cli.output;

import java.util.Locale;

/** Text from elsewhere, made fit to be part of one line on a terminal. */
public final class OneLine {
  private OneLine() {}

  /**
   * {@code text} with its control characters, line ends among them, written as escapes. Names out
   * of model files reach error messages, and a name must not break the line or drive the terminal.
   */
  public static String of(String text) {
    var line = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\n' -> line.append("\\n");
                case '\r' -> line.append("\\r");
                case '\t' -> line.append("\\t");
                default -> {
                  if (breaksLine(c)) {
                    line.append(String.format(Locale.ROOT, "\\u%04x", c));
                  } else {
                    line.appendCodePoint(c);
                  }
                }
              }
            });
    return line.toString();
  }

  private static boolean breaksLine(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      default -> false;
    };
  }
}
