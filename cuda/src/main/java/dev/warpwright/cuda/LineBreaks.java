package dev.warpwright.cuda;

/** Breaks lines of C++ that are too long to read. */
final class LineBreaks {
  private static final int WIDTH = 100;
  private static final int CONTINUATION = 4;
  private static final String[] AFTER = {", ", " = ", " && ", " || "};
  private static final String[] BEFORE = {" ? ", " : ", " + "};

  private LineBreaks() {}

  /**
   * The line, indented, and broken where the fewest parentheses are open. A comment stays as it is,
   * and so does what has no place to break.
   */
  static String wrap(String line, int indent) {
    StringBuilder out = new StringBuilder();
    String rest = line;
    int column = indent;
    while (column + rest.length() > WIDTH && !line.startsWith("//")) {
      int at = bestBreak(rest, WIDTH - column);
      if (at < 0) {
        break;
      }
      out.repeat(' ', column).append(rest, 0, at).append('\n');
      rest = rest.substring(at + 1);
      column = indent + CONTINUATION;
    }
    return out.repeat(' ', column).append(rest).toString();
  }

  /** Index of the space to break at, before {@code limit}; -1 if there is none. */
  private static int bestBreak(String text, int limit) {
    int best = -1;
    int bestDepth = Integer.MAX_VALUE;
    int depth = 0;
    for (int i = 0; i < Math.min(text.length(), limit); i++) {
      char c = text.charAt(i);
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      if (c == ' ' && i > CONTINUATION && depth <= bestDepth && isBreak(text, i)) {
        best = i;
        bestDepth = depth;
      }
    }
    return best;
  }

  private static boolean isBreak(String text, int space) {
    for (String after : AFTER) {
      if (text.startsWith(after, space - after.length() + 1)) {
        return true;
      }
    }
    for (String before : BEFORE) {
      if (text.startsWith(before, space)) {
        return true;
      }
    }
    return false;
  }
}
