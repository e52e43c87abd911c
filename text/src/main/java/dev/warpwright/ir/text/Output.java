package dev.warpwright.ir.text;

import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Text in the making: indentation, the line of every node, and the place of a marked one. */
final class Output {
  private final StringBuilder text = new StringBuilder();
  private final Map<Object, Integer> lines = new IdentityHashMap<>();
  private final @Nullable Object marked;
  private int indent;
  private int line = 1;
  private int lineStart;
  private int markLine;
  private int markStart;
  private int markEnd;

  Output(@Nullable Object marked) {
    this.marked = marked;
  }

  Output add(String piece) {
    if (text.length() == lineStart && !piece.isEmpty()) {
      text.append("  ".repeat(indent));
    }
    text.append(piece);
    return this;
  }

  void newLine() {
    text.append('\n');
    line++;
    lineStart = text.length();
  }

  void indent(int by) {
    indent += by;
  }

  int column() {
    return text.length() - lineStart;
  }

  /** A node begins here; the first place counts. */
  void begin(Object node) {
    lines.putIfAbsent(node, line);
    if (node == marked && markLine == 0) {
      add("");
      markLine = line;
      markStart = text.length() == lineStart ? indent * 2 : column();
    }
  }

  /** A node ends here, or its first line does. */
  void end(Object node) {
    if (node == marked && markEnd == 0) {
      markEnd = markLine == line ? column() : Integer.MAX_VALUE;
    }
  }

  /** The text; under the marked node's first line there is a line with carets. */
  String text() {
    if (markLine == 0) {
      return text.toString();
    }
    StringBuilder result = new StringBuilder();
    int number = 1;
    for (String each : text.toString().split("\n", -1)) {
      result.append(number > 1 ? "\n" : "").append(each);
      if (number++ == markLine) {
        int end = Math.min(markEnd == 0 ? Integer.MAX_VALUE : markEnd, each.length());
        result.append('\n').append(" ".repeat(markStart));
        result.append("^".repeat(Math.max(1, end - markStart)));
      }
    }
    return result.toString();
  }

  Map<Object, Integer> lines() {
    return lines;
  }
}
