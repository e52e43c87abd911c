package dev.warpwright.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The table, line by line, and the averages at its end; or one JSON document a line. */
final class Report {
  private final boolean json;
  private final Map<String, List<Double>> ratios = new LinkedHashMap<>();

  Report(boolean json) {
    this.json = json;
  }

  void header() {
    if (!json) {
      System.out.printf(
          Locale.ROOT,
          "%-40s %-13s %11s %7s %9s %9s %7s%n",
          "workload",
          "by",
          "time us",
          "±",
          "GFLOP/s",
          "error",
          "ratio");
    }
  }

  /** One implementation's line; ratios are its time over ours. */
  void line(
      Workload workload,
      int implementation,
      double error,
      InterleavedTimer.Time time,
      double ours) {
    String by = workload.implementations().get(implementation).name();
    double ratio = time.micros() / ours;
    double gflops = workload.flops() / time.micros() / 1e3;
    if (json) {
      System.out.printf(
          Locale.ROOT,
          "{\"group\": \"%s\", \"workload\": \"%s\", \"by\": \"%s\", \"timeUs\": %.3f,"
              + " \"spread\": %.4f, \"gflops\": %.1f, \"relError\": %.3g, \"verified\": true,"
              + " \"ratio\": %.3f}%n",
          workload.group(),
          workload.name(),
          by,
          time.micros(),
          time.spread(),
          gflops,
          error,
          ratio);
    } else {
      System.out.printf(
          Locale.ROOT,
          "%-40s %-13s %11.2f %6.1f%% %9s %9.1e %7s%n",
          implementation == 0 ? workload.name() : "",
          by,
          time.micros(),
          time.spread() * 100,
          workload.flops() == 0 ? "" : String.format(Locale.ROOT, "%.1f", gflops),
          error,
          implementation == 0 ? "" : String.format(Locale.ROOT, "%.2f", ratio));
    }
  }

  /** Takes the ratio that counts into the average of its group. */
  void count(String group, double ratio) {
    ratios.computeIfAbsent(group, g -> new ArrayList<>()).add(ratio);
  }

  void summary() {
    ratios.forEach(
        (group, all) -> {
          double mean = Math.exp(all.stream().mapToDouble(Math::log).average().orElse(0));
          double least = all.stream().mapToDouble(r -> r).min().orElse(0);
          System.out.printf(
              Locale.ROOT,
              json
                  ? "{\"summary\": \"%s\", \"count\": %d, \"geomean\": %.3f, \"least\": %.3f}%n"
                  : "%s: %d workloads, geometric mean of the ratios %.2f, least %.2f%n",
              group,
              all.size(),
              mean,
              least);
        });
  }
}
