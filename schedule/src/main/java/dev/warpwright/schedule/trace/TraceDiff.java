package dev.warpwright.schedule.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How two traces differ, step by step. Steps are compared as a reader names things ({@link
 * ReadableTrace}), so a step that comes in between changes no other one.
 *
 * @param lines all steps in order: common ones, those of the first trace only, those of the second
 */
public record TraceDiff(List<Line> lines) {
  /** Whose step it is. */
  public enum Kind {
    SAME(' '),
    REMOVED('-'),
    ADDED('+');

    private final char mark;

    Kind(char mark) {
      this.mark = mark;
    }
  }

  /** One step. */
  public record Line(Kind kind, String step) {
    @Override
    public String toString() {
      return kind.mark + " " + step;
    }
  }

  public TraceDiff {
    lines = List.copyOf(lines);
  }

  static TraceDiff of(Trace first, Trace second) {
    List<String> a = ReadableTrace.steps(first);
    List<String> b = ReadableTrace.steps(second);
    // common[i][j]: how many steps a from i on and b from j on have in common, in order.
    int[][] common = new int[a.size() + 1][b.size() + 1];
    for (int i = a.size() - 1; i >= 0; i--) {
      for (int j = b.size() - 1; j >= 0; j--) {
        common[i][j] =
            a.get(i).equals(b.get(j))
                ? common[i + 1][j + 1] + 1
                : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    List<Line> lines = new ArrayList<>();
    int i = 0;
    int j = 0;
    while (i < a.size() || j < b.size()) {
      if (i < a.size() && j < b.size() && a.get(i).equals(b.get(j))) {
        lines.add(new Line(Kind.SAME, a.get(i++)));
        j++;
      } else if (j == b.size() || i < a.size() && common[i + 1][j] >= common[i][j + 1]) {
        lines.add(new Line(Kind.REMOVED, a.get(i++)));
      } else {
        lines.add(new Line(Kind.ADDED, b.get(j++)));
      }
    }
    return new TraceDiff(lines);
  }

  /** Whether the traces do the same. */
  public boolean isEmpty() {
    return lines.stream().allMatch(line -> line.kind() == Kind.SAME);
  }

  /** The steps that differ only, one in a line. */
  public String changes() {
    return lines.stream()
        .filter(line -> line.kind() != Kind.SAME)
        .map(Line::toString)
        .collect(Collectors.joining("\n"));
  }

  /** All steps, one in a line, marked with a space, {@code -} or {@code +}. */
  @Override
  public String toString() {
    return lines.stream().map(Line::toString).collect(Collectors.joining("\n"));
  }
}
