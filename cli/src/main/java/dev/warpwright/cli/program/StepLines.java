package dev.warpwright.cli.program;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.OneLine;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What threads hold step by step, for people and for scripts. */
final class StepLines {
  private static final int LONGEST = 72;

  private StepLines() {}

  /**
   * A statement, and below it what each thread has of it; a column a thread.
   *
   * @param most lines, after which it is said how many steps are left
   */
  static List<String> text(List<SteppedKernel.Step> steps, int most) {
    Set<Integer> threads = new TreeSet<>();
    steps.forEach(step -> threads.addAll(step.values().keySet()));
    int name = 0;
    int width = 2;
    for (SteppedKernel.Step step : steps) {
      name = Math.max(name, label(step).length());
      for (SteppedKernel.Held held : step.values().values()) {
        width = Math.max(width, cell(step, held).length());
      }
    }
    List<String> lines = new ArrayList<>();
    StringBuilder heads = new StringBuilder(ArrayText.padded("thread", name + 9));
    for (int t : threads) {
      heads.append("  ").append(ArrayText.padded(Integer.toString(t), width));
    }
    lines.add(heads.toString());
    int left = steps.size();
    for (SteppedKernel.Step step : steps) {
      if (lines.size() >= most) {
        lines.add("... " + left + " more steps; --json has all");
        break;
      }
      left--;
      String statement = OneLine.of(step.site().statement());
      lines.add(
          String.format(
              Locale.ROOT,
              "line %-3d %s",
              step.site().line(),
              statement.length() > LONGEST ? statement.substring(0, LONGEST) + "..." : statement));
      if (step.site().what().isEmpty()) {
        continue;
      }
      StringBuilder line = new StringBuilder("         " + ArrayText.padded(label(step), name));
      for (int t : threads) {
        SteppedKernel.Held held = step.values().get(t);
        line.append("  ").append(ArrayText.padded(held == null ? "-" : cell(step, held), width));
      }
      lines.add(line.toString());
    }
    return lines;
  }

  private static boolean sameIndex(SteppedKernel.Step step) {
    return step.values().values().stream()
            .map(SteppedKernel.Held::index)
            .collect(Collectors.toCollection(LinkedHashSet::new))
            .size()
        <= 1;
  }

  /** The name, with the index if all threads have the same. */
  private static String label(SteppedKernel.Step step) {
    if (step.site().rank() == 0 || step.values().isEmpty()) {
      return step.site().what();
    }
    return sameIndex(step)
        ? step.site().what() + step.values().values().iterator().next().index()
        : step.site().what();
  }

  private static String cell(SteppedKernel.Step step, SteppedKernel.Held held) {
    String value = ArrayText.real(held.value());
    return step.site().rank() == 0 || sameIndex(step)
        ? value
        : held.index().toString().replace(" ", "") + " " + value;
  }

  static Json json(SteppedKernel.Step step) {
    List<Map.Entry<Integer, SteppedKernel.Held>> values = List.copyOf(step.values().entrySet());
    return Json.object()
        .with("line", step.site().line())
        .with("statement", step.site().statement())
        .with("what", step.site().what())
        .with(
            "values",
            Json.array(
                values,
                entry ->
                    Json.object()
                        .with("thread", entry.getKey())
                        .with("index", Json.array(entry.getValue().index(), Json::of))
                        .with("value", entry.getValue().value())));
  }
}
