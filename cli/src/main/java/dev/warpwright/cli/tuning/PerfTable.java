package dev.warpwright.cli.tuning;

import dev.warpwright.cli.output.Figure;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.predict.Prediction;
import dev.warpwright.ir.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Several measured products: a line for each, sums of those that belong to one network, means. */
record PerfTable(
    List<Products> tasks, List<PerfAction.Measured> all, List<PerfAction.Unmeasured> not) {
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
            "%-46s %10s %10s %10s %10s %8s  %s",
            "",
            "us",
            "predicted",
            "bound",
            "best peer",
            "ratio",
            "origin"));
    for (Products task : tasks) {
      List<PerfAction.Measured> parts = parts(task);
      parts.forEach(part -> rows.add(row(part)));
      not.stream().filter(part -> part.task() == task).forEach(part -> rows.add(part.line()));
      if (isSum(task)) {
        double ours = sum(parts, false);
        double peers = sum(parts, true);
        rows.add(
            String.format(
                Locale.ROOT,
                "%-46s %10.2f %10s %10s %10.2f %8.3f  %d products, one after the other",
                "all of " + task.name(),
                ours,
                Figure.number(expected(parts, Prediction::micros)),
                Figure.number(expected(parts, p -> p.least().micros())),
                peers,
                peers / ours,
                task.counts().values().stream().mapToInt(Integer::intValue).sum()));
      }
    }
    if (compared().length > 0) {
      rows.add(
          String.format(
              Locale.ROOT,
              "geometric mean of %d ratios %.3f, least %.3f (above 1 we are faster)",
              compared().length,
              mean(),
              least()));
    }
    if (all.size() + not.size() > 1) {
      rows.add(counts());
    }
    return String.join(System.lineSeparator(), rows);
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
        "%d products: %d verified, %d WRONG, %d not measured",
        all.size() + not.size(),
        all.size() - wrong(),
        wrong(),
        not.size());
  }

  /** With the sums and means. */
  Json.Members into(Json.Members json) {
    return json.with("verifiedCount", all.size() - wrong())
        .with("wrongCount", wrong())
        .with("notMeasuredCount", not.size())
        .with("geometricMean", mean())
        .with("least", least())
        .with(
            "networks",
            Json.array(
                tasks.stream().filter(this::isSum).toList(),
                task -> {
                  double ours = sum(parts(task), false);
                  double peers = sum(parts(task), true);
                  return Json.object()
                      .with("workload", task.name())
                      .with("timeUs", ours)
                      .with("predictedUs", expected(parts(task), Prediction::micros))
                      .with("leastUs", expected(parts(task), p -> p.least().micros()))
                      .with(
                          "peers",
                          Json.array(
                              List.of(peers),
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

  private double mean() {
    double logs = 0;
    for (double ratio : compared()) {
      logs += Math.log(ratio);
    }
    return Math.exp(logs / compared().length);
  }

  private double least() {
    double least = Double.NaN;
    for (double ratio : compared()) {
      least = Double.isNaN(least) ? ratio : Math.min(least, ratio);
    }
    return least;
  }

  /** Microseconds of all products, or of their fastest peers; NaN if one has none. */
  private static double sum(List<PerfAction.Measured> parts, boolean peers) {
    double sum = 0;
    for (PerfAction.Measured part : parts) {
      KernelReport.Timing timing = part.bench().timing();
      double factor = peers ? part.ratio() : 1;
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

  private static String row(PerfAction.Measured part) {
    KernelReport bench = part.bench();
    String name = bench.workload() + (part.count() > 1 ? ", " + part.count() + " times" : "");
    if (bench.timing() == null) {
      return String.format(Locale.ROOT, "%-46s WRONG: %s", name, bench.failure());
    }
    double ours = bench.timing().times().graphUs();
    return String.format(
        Locale.ROOT,
        "%-46s %10.2f %10s %10s %10.2f %8.3f  %s %s",
        name,
        ours,
        Figure.number(bench.timing().expected().micros()),
        Figure.number(bench.timing().expected().least().micros()),
        ours * part.ratio(),
        part.ratio(),
        part.origin(),
        part.point());
  }
}
