package dev.warpwright.base;

import java.util.Locale;

/** Makes names from a file safe to print. The names themselves are never changed, they are data. */
public final class Names {
  private static final int MAX_SHOWN = 200;

  private Names() {}

  /**
   * {@return the name in single quotes, printable on one line; quotes and backslashes in it are
   * escaped}
   *
   * @param name from a file or a command line, of any characters
   */
  public static String quote(String name) {
    return "'" + escape(name, true) + "'";
  }

  /**
   * {@return the name on one line, as a path is shown: control, format and separator characters and
   * lone surrogates are escaped, and what is longer than {@value #MAX_SHOWN} characters is cut with
   * an ellipsis}
   *
   * @param name from a file or a command line, of any characters
   */
  public static String printable(String name) {
    return escape(name, false);
  }

  private static String escape(String name, boolean quotes) {
    StringBuilder out = new StringBuilder();
    int shown = 0;
    for (int i = 0; i < name.length(); shown++) {
      if (shown == MAX_SHOWN) {
        return out.append('…').toString();
      }
      int c = name.codePointAt(i);
      i += Character.charCount(c);
      switch (c) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\'', '"', '\\' -> out.append(quotes ? "\\" : "").append((char) c);
        default -> {
          if (isPrintable(c)) {
            out.appendCodePoint(c);
          } else {
            out.append(String.format(Locale.ROOT, "\\u{%X}", c));
          }
        }
      }
    }
    return out.toString();
  }

  private static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
