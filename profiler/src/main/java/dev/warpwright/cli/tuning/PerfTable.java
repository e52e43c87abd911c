package dev.warpwright.cli.tuning;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.Ratios;
import dev.warpwright.cli.output.Spread;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.perf.predict.Prediction;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Several measured products: a line for each, losses first, sums of those that belong to one
 * network, means beside medians.
 */
record PerfTable(
    List<Products> tasks, List<PerfAction.Measured> all, List<PerfAction.Unmeasured> not) {
  /** Before every ratio. */
  private static final double FAILED = -1;

  private static final Comparator<PerfAction.Measured> LOSSES_FIRST =
      Comparator.comparingDouble(PerfTable::place);

  PerfTable {
    tasks = List.copyOf(tasks);
    all = List.copyOf(all);
    not = List.copyOf(not);
  }

  String text() {
    List<String> rows = new ArrayList<>();
    rows.add(
        String.format(
            Locale.ROOT,
            "%-46s %10s %15s %10s %10s %10s %8s  %s",
            "",
            "us",
            "quartiles",
            "predicted",
            "bound",
            "best baseline",
            "ratio",
            "origin"));
    List<Products> ordered = new ArrayList<>(tasks);
    // A task's worst product decides; tasks of one network stay together.
    ordered.sort(Comparator.comparingDouble(this::place));
    for (Products task : ordered) {
      List<PerfAction.Measured> parts = parts(task);
      not.stream().filter(part -> part.task() == task).forEach(part -> rows.add(part.line()));
      parts.stream().sorted(LOSSES_FIRST).forEach(part -> rows.addAll(rows(part)));
      if (isSum(task)) {
        double ours = sum(parts, false);
        double baselines = sum(parts, true);
        rows.add(
            String.format(
                Locale.ROOT,
                "%-46s %10.2f %15s %10s %10s %10.2f %8.3f  %d GEMMs, one after the other",
                "all of " + task.name(),
                ours,
                "",
                Figure.number(expected(parts, Prediction::micros)),
                Figure.number(expected(parts, p -> p.least().micros())),
                baselines,
                baselines / ours,
                task.counts().values().stream().mapToInt(Integer::intValue).sum()));
      }
    }
    Ratios ratios = Ratios.of(compared());
    if (ratios.count() > 0) {
      rows.add(ratios.text() + " (above 1 we are faster)");
    }
    if (all.size() + not.size() > 1) {
      rows.add(counts());
    }
    return String.join(System.lineSeparator(), rows);
  }

  private double place(Products task) {
    return not.stream().anyMatch(part -> part.task() == task)
        ? FAILED
        : parts(task).stream().mapToDouble(PerfTable::place).min().orElse(0);
  }

  /** Whether a task is a network all of whose products have been measured. */
  private boolean isSum(Products task) {
    return !task.isOne() && not.stream().noneMatch(part -> part.task() == task);
  }

  private long wrong() {
    return all.stream().filter(part -> part.bench().timing() == null).count();
  }

  private String counts() {
    return String.format(
        Locale.ROOT,
        "%d GEMMs: %d verified, %d WRONG, %d not measured",
        all.size() + not.size(),
        all.size() - wrong(),
        wrong(),
        not.size());
  }

  /** With the sums and means. */
  Json.Members into(Json.Members json) {
    return Ratios.of(compared())
        .into(json)
        .with("verifiedCount", all.size() - wrong())
        .with("wrongCount", wrong())
        .with("notMeasuredCount", not.size())
        .with(
            "networks",
            Json.array(
                tasks.stream().filter(this::isSum).toList(),
                task -> {
                  double ours = sum(parts(task), false);
                  double baselines = sum(parts(task), true);
                  return Json.object()
                      .with("workload", task.name())
                      .with("timeUs", ours)
                      .with("predictedUs", expected(parts(task), Prediction::micros))
                      .with("leastUs", expected(parts(task), p -> p.least().micros()))
                      .with(
                          "peers",
                          Json.array(
                              List.of(baselines),
                              us ->
                                  Json.object()
                                      .with("name", "fastest library, layer by layer")
                                      .with("timeUs", us)
                                      .with("ratio", us / ours)));
                }));
  }

  private List<PerfAction.Measured> parts(Products task) {
    // The same object: two tasks may be equal.
    return all.stream().filter(part -> part.task() == task).toList();
  }

  private double[] compared() {
    return all.stream().mapToDouble(PerfAction.Measured::ratio).filter(r -> r > 0).toArray();
  }

  /** Microseconds of all products, or of their fastest baselines; NaN if one has none. */
  private static double sum(List<PerfAction.Measured> parts, boolean baselines) {
    double sum = 0;
    for (PerfAction.Measured part : parts) {
      KernelReport.Timing timing = part.bench().timing();
      double factor = baselines ? part.ratio() : 1;
      sum +=
          timing == null || factor == 0
              ? Double.NaN
              : part.count() * factor * timing.times().graphUs();
    }
    return sum;
  }

  /** What is expected of all products, one after the other; NaN if it is not known of one. */
  private static double expected(
      List<PerfAction.Measured> parts, ToDoubleFunction<Prediction> what) {
    double sum = 0;
    for (PerfAction.Measured part : parts) {
      KernelReport.Timing timing = part.bench().timing();
      sum += timing == null ? Double.NaN : part.count() * what.applyAsDouble(timing.expected());
    }
    return sum;
  }

  /**
   * What failed comes first, then what is slower than a library, whether that is a baseline or not.
   */
  private static double place(PerfAction.Measured part) {
    if (part.bench().timing() == null) {
      return FAILED;
    }
    double excluded =
        part.bench().excluded().stream()
            .mapToDouble(KernelReport.Excluded::ratio)
            .min()
            .orElse(Double.MAX_VALUE);
    return Math.min(part.ratio() > 0 ? part.ratio() : Double.MAX_VALUE, excluded);
  }

  private static List<String> rows(PerfAction.Measured part) {
    List<String> rows = new ArrayList<>(List.of(row(part)));
    KernelReport bench = part.bench();
    if (bench.timing() != null) {
      double ours = bench.timing().times().graphUs();
      for (KernelReport.Excluded excluded : bench.excluded()) {
        rows.add("    " + KernelBenchmark.excluded(excluded, ours, bench.tolerance()));
      }
    }
    return rows;
  }

  private static String row(PerfAction.Measured part) {
    KernelReport bench = part.bench();
    String name = bench.workload() + (part.count() > 1 ? ", " + part.count() + " times" : "");
    if (bench.timing() == null) {
      return String.format(Locale.ROOT, "%-46s WRONG: %s", name, bench.failure());
    }
    double ours = bench.timing().times().graphUs();
    return String.format(
        Locale.ROOT,
        "%-46s %10.2f %15s %10s %10s %10s %8s  %s %s",
        name,
        ours,
        Spread.text(bench.timing().times().graph()),
        Figure.number(bench.timing().expected().micros()),
        Figure.number(bench.timing().expected().least().micros()),
        part.ratio() > 0 ? String.format(Locale.ROOT, "%.2f", ours * part.ratio()) : "-",
        part.ratio() > 0 ? String.format(Locale.ROOT, "%.3f", part.ratio()) : "-",
        part.origin(),
        part.point());
  }
}
