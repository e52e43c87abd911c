package dev.warpwright.cli.output;

import java.util.Locale;

/** Text from elsewhere, made fit to be part of one line on a terminal. */
public final class OneLine {
  private static final int LONGEST = 480;

  /** Of a longer line, characters that stay at its end, where messages say what to do. */
  private static final int END = 120;

  private OneLine() {}

  /**
   * The same, and no longer than a few hundred characters: of a longer line the middle is left out.
   */
  public static String cut(String text) {
    // What cannot be part of the result need not be made fit for it.
    String line = of(text.length() <= 2 * LONGEST ? text : without(text, 2 * LONGEST));
    return line.length() <= LONGEST ? line : without(line, LONGEST);
  }

  private static String without(String text, int length) {
    int begin = length - END - 3;
    int end = text.length() - END;
    begin -= Character.isHighSurrogate(text.charAt(begin - 1)) ? 1 : 0;
    end += Character.isLowSurrogate(text.charAt(end)) ? 1 : 0;
    return text.substring(0, begin) + "..." + text.substring(end);
  }

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
