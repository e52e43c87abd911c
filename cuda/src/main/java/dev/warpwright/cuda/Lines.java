package dev.warpwright.cuda;

import java.util.List;

/** Lines of a source file as they are written, indented. */
final class Lines {
  private final StringBuilder out = new StringBuilder();
  private int depth;

  void indent() {
    depth++;
  }

  void outdent() {
    depth--;
  }

  /** A line, broken where it is too long. */
  void line(String text) {
    out.append(LineBreaks.wrap(text, text.startsWith("#") ? 0 : 2 * depth)).append('\n');
  }

  /** A comment of as many lines as it takes. */
  void comment(String text) {
    for (String part : text.split("\\R", -1)) {
      String safe = CudaPrinter.commentText(part);
      LineBreaks.comment(safe, 2 * depth).forEach(out::append);
    }
  }

  /** How much there is, for {@link #cut}. */
  int length() {
    return out.length();
  }

  /** Takes back what was written between two lengths. */
  void cut(int start, int end) {
    out.delete(start, end);
  }

  /** Puts whole lines in at a length, indented as lines are now. */
  void insert(int at, List<String> lines) {
    StringBuilder inserted = new StringBuilder();
    for (String line : lines) {
      inserted.repeat(' ', 2 * depth).append(line).append('\n');
    }
    out.insert(at, inserted);
  }

  String text() {
    return out.toString();
  }
}
