package dev.warpwright.cuda;

import java.util.ArrayList;
import java.util.List;

/** Breaks lines of C++ that are too long to read. */
final class LineBreaks {
  private static final int WIDTH = 100;
  private static final int CONTINUATION = 4;
  private static final String OPENING = "([{";
  private static final String CLOSING = ")]}";

  /** Where a line may be broken, the best places first. */
  private enum Place {
    AFTER_ASSIGNMENT(" = ", true),
    AFTER_COMMA(", ", true),
    AFTER_AND(" && ", true),
    AFTER_OR(" || ", true),
    BEFORE_QUESTION(" ? ", false),
    BEFORE_COLON(" : ", false),
    BEFORE_PLUS(" + ", false);

    private final String token;
    private final boolean after;

    Place(String token, boolean after) {
      this.token = token;
      this.after = after;
    }

    boolean isAt(String text, int space) {
      return text.startsWith(token, after ? space - token.length() + 1 : space);
    }
  }

  private LineBreaks() {}

  /**
   * The line, indented, and broken where the fewest parentheses are open; a break in more of them
   * than the first one is indented more. A comment stays as it is, and so does what has no place to
   * break.
   */
  static String wrap(String line, int indent) {
    StringBuilder out = new StringBuilder();
    String rest = line;
    int column = indent;
    int depth = 0;
    int firstDepth = Integer.MAX_VALUE;
    while (column + rest.length() > WIDTH && !line.startsWith("//")) {
      int at = bestBreak(rest, WIDTH - column);
      if (at < 0) {
        break;
      }
      out.repeat(' ', column).append(rest, 0, at).append('\n');
      depth += depth(rest, at);
      firstDepth = Math.min(firstDepth, depth);
      rest = rest.substring(at + 1);
      column = indent + (depth > firstDepth ? 2 : 1) * CONTINUATION;
    }
    return out.repeat(' ', column).append(rest).toString();
  }

  /** Parentheses that open before an index, less those that close. */
  private static int depth(String text, int end) {
    int depth = 0;
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      depth += OPENING.indexOf(c) >= 0 ? 1 : CLOSING.indexOf(c) >= 0 ? -1 : 0;
    }
    return depth;
  }

  /** Whole lines of a comment, broken between words. */
  static List<String> comment(String text, int indent) {
    String start = " ".repeat(indent) + "//";
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder(start);
    for (String word : text.split(" ", -1)) {
      boolean first = line.length() == start.length();
      if (!first && line.length() + 1 + word.length() > WIDTH) {
        lines.add(line + "\n");
        line = new StringBuilder(start);
      }
      line.append(word.isEmpty() ? "" : " " + word);
    }
    lines.add(line + "\n");
    return lines;
  }

  /** Index of the space to break at, before {@code limit}; -1 if there is none. */
  private static int bestBreak(String text, int limit) {
    int best = -1;
    int bestCost = Integer.MAX_VALUE;
    int depth = 0;
    for (int i = 0; i < Math.min(text.length(), limit); i++) {
      char c = text.charAt(i);
      depth += OPENING.indexOf(c) >= 0 ? 1 : CLOSING.indexOf(c) >= 0 ? -1 : 0;
      if (c != ' ' || i <= CONTINUATION || isInTemplate(text, i)) {
        continue;
      }
      for (Place place : Place.values()) {
        int cost = Place.values().length * depth + place.ordinal();
        if (cost <= bestCost && place.isAt(text, i)) {
          best = i;
          bestCost = cost;
        }
      }
    }
    return best;
  }

  /** Whether a number and a closing angle bracket follow, as in {@code Vec<float, 4>}. */
  private static boolean isInTemplate(String text, int space) {
    int i = space + 1;
    while (i < text.length() && Character.isDigit(text.charAt(i))) {
      i++;
    }
    return i > space + 1 && i < text.length() && (text.charAt(i) == '>' || text.charAt(i) == ',');
  }
}
