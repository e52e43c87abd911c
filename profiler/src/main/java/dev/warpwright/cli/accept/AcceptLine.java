package dev.warpwright.cli.accept;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Spread;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What came of one product of a figure: a ratio, or why there is none.
 *
 * @param ratio that counts; NaN if there is nothing to compare with
 * @param time of our kernel in microseconds
 * @param expectedUs of our kernel, by the model; NaN if nothing was expected
 * @param otherUs of what it is compared with; NaN if no library computes this product
 * @param other its name
 * @param origin how the kernel was found
 * @param excluded libraries that miss the tolerance, each in words with its figure
 * @param excludedJson the same for programs
 * @param failure why the figure is not reached whatever the other products say; null for nothing
 */
record AcceptLine(
    String workload,
    double ratio,
    Quantiles time,
    double expectedUs,
    double otherUs,
    String other,
    String origin,
    List<String> excluded,
    List<Json> excludedJson,
    @Nullable String failure) {
  /** How far from what a kernel takes it may be expected. */
  private static final double NEAR = 0.15;

  AcceptLine {
    excluded = List.copyOf(excluded);
    excludedJson = List.copyOf(excludedJson);
  }

  /** Of a product without a time. */
  static AcceptLine failed(String workload, @Nullable String failure) {
    return new AcceptLine(
        workload,
        Double.NaN,
        Quantiles.of(Double.NaN),
        Double.NaN,
        Double.NaN,
        "",
        "",
        List.of(),
        List.of(),
        String.valueOf(failure));
  }

  /** Of the tuned kernel beside the analytic model's choice: what tuning gains, at most 1. */
  static AcceptLine ofUntuned(
      String workload, KernelReport.Timing timing, double untunedUs, String origin) {
    Quantiles time = timing.times().graph();
    return new AcceptLine(
        workload,
        time.median() / untunedUs,
        time,
        expected(timing),
        untunedUs,
        "the untuned kernel",
        origin,
        List.of(),
        List.of(),
        null);
  }

  /**
   * Beside the fastest library. One that is excluded for its error is no opponent, but what is
   * faster than ours must not turn into a win either: beside another library the ratio is one at
   * most, and without any the product is open, which fails the figure.
   *
   * @param report that has a timing
   */
  static AcceptLine ofBaselines(String workload, KernelReport report, String origin) {
    if (report.timing() == null) {
      throw new IllegalArgumentException("no time of " + workload);
    }
    Quantiles time = report.timing().times().graph();
    boolean faster = report.excluded().stream().anyMatch(one -> one.ratio() < 1);
    List<String> excluded = new ArrayList<>();
    for (KernelReport.Excluded one : report.excluded()) {
      excluded.add(KernelBenchmark.excluded(one, time.median(), report.tolerance()));
    }
    Optional<KernelReport.Baseline> baseline =
        report.baselines().stream().min(Comparator.comparingDouble(KernelReport.Baseline::ratio));
    double ratio = baseline.map(KernelReport.Baseline::ratio).orElse(Double.NaN);
    return new AcceptLine(
        workload,
        faster ? Math.min(ratio, 1) : ratio,
        time,
        expected(report.timing()),
        baseline.map(one -> one.times().graphUs()).orElse(Double.NaN),
        baseline.map(KernelReport.Baseline::name).orElse(""),
        origin,
        excluded,
        report.excluded().stream().map(KernelBenchmark::json).toList(),
        faster && baseline.isEmpty()
            ? "open: the only library is faster, and excluded for its error"
            : null);
  }

  private static double expected(KernelReport.Timing timing) {
    double micros = timing.expected().micros();
    return micros > 0 ? micros : Double.NaN;
  }

  /** Whether the model expected a time, and how long the kernel takes is known. */
  boolean isExpected() {
    return failure == null && !Double.isNaN(expectedUs) && time.median() > 0;
  }

  /** Whether it takes what is expected, give or take {@link #NEAR}. */
  boolean isAsExpected() {
    return isExpected() && Math.abs(expectedUs - time.median()) <= NEAR * time.median();
  }

  boolean isCompared() {
    return failure == null && !Double.isNaN(ratio);
  }

  /** Failures first, then losses, what nobody computes at the end. */
  double place() {
    return failure != null ? -1 : isCompared() ? ratio : Double.MAX_VALUE;
  }

  /** In words, without the workload; excluded libraries are told apart. */
  String text() {
    if (failure != null) {
      return OneLine.of(failure);
    }
    String own =
        String.format(Locale.ROOT, "%.2f us (%s)", time.median(), Spread.text(time))
            + (origin.equals("tuned") ? "" : ", " + origin);
    return isCompared()
        ? String.format(Locale.ROOT, "%.3f, %s beside %.2f of %s", ratio, own, otherUs, other)
        : own
            + (excluded.isEmpty()
                ? ", which no baseline computes"
                : ", which no baseline computes precisely enough");
  }

  Json json() {
    return Json.object()
        .with("workload", workload)
        .with("ratio", ratio)
        .with("timeUs", time.median())
        .with("spread", Spread.json(time))
        .with("expectedUs", expectedUs)
        .with("otherUs", otherUs)
        .with("other", other)
        .with("origin", origin)
        .with("excluded", Json.array(excludedJson, json -> json))
        .with("failure", failure);
  }
}
