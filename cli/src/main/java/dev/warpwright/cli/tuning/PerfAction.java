package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmSpace;
import dev.warpwright.compiler.tune.TunedGemm;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Measures the best known kernels of products beside their peers. */
public final class PerfAction implements Action<PerfRequest> {
  @Override
  public Report perform(PerfRequest request, Progress progress) {
    TuningDevice here = TuningDevice.find();
    List<Report> reports = new ArrayList<>();
    List<String> rows = new ArrayList<>();
    double logs = 0;
    int compared = 0;
    double worst = Double.POSITIVE_INFINITY;
    try (TuningDatabase database = TuningStore.open(request.database(), progress)) {
      for (GemmWorkload workload : request.workloads()) {
        TunedGemm kernel = kernel(workload, request.untuned(), here, database);
        KernelReport bench = TuneAction.bench(kernel.candidate(), request.rounds(), here, progress);
        reports.add(
            report(
                workload,
                kernel,
                beside(workload, bench, request.cutlass(), progress),
                database.tried(GemmKeys.of(workload), here.target().name())));
        rows.add(row(bench, kernel));
        double ratio = ratio(bench);
        if (ratio > 0) {
          logs += Math.log(ratio);
          worst = Math.min(worst, ratio);
          compared++;
        }
      }
    }
    if (reports.size() == 1) {
      return reports.getFirst();
    }
    double mean = Math.exp(logs / Math.max(1, compared));
    rows.addFirst("%-46s %10s %10s %8s  %s".formatted("", "us", "best peer", "ratio", "origin"));
    if (compared > 0) {
      rows.add(
          String.format(
              Locale.ROOT,
              "geometric mean of %d ratios %.3f, least %.3f (above 1 we are faster)",
              compared,
              mean,
              worst));
    }
    Report all = Reports.many(reports);
    return new Report(
        all.ok(),
        String.join(System.lineSeparator(), rows),
        ((Json.Members) all.json()).with("geometricMean", mean).with("least", worst));
  }

  /** The best known kernel, or the analytic model's choice. */
  static TunedGemm kernel(
      GemmWorkload workload, boolean untuned, TuningDevice here, TuningDatabase database) {
    int multiprocessors = here.device().multiprocessors();
    return untuned
        ? new TunedGemm(
            TunedGemm.untuned(GemmSpace.of(workload, here.target(), multiprocessors)),
            TunedGemm.Origin.UNTUNED)
        : TunedGemm.find(workload, here.target(), here.device().name(), multiprocessors, database);
  }

  private static Report report(
      GemmWorkload workload, TunedGemm kernel, KernelReport bench, List<TuningRecord> tried) {
    Report report = KernelBenchmark.report(bench);
    String origin = origin(kernel);
    return new Report(
        report.ok(),
        report.text() + System.lineSeparator() + origin + ": " + kernel.candidate().point().text(),
        ((Json.Members) report.json())
            .with("key", GemmKeys.of(workload).text())
            .with("origin", origin)
            .with("trace", kernel.candidate().point().text())
            .with("trials", tried.size())
            .with("failures", failures(tried)));
  }

  /** How many of the trials have no time, by reason. */
  private static Json failures(List<TuningRecord> tried) {
    Map<FailureReason, Integer> counts = new EnumMap<>(FailureReason.class);
    for (TuningRecord record : tried) {
      if (record.outcome() instanceof Outcome.Failed failed) {
        counts.merge(failed.reason(), 1, Integer::sum);
      }
    }
    Json.Members json = Json.object();
    for (Map.Entry<FailureReason, Integer> count : counts.entrySet()) {
      json = json.with(count.getKey().text(), count.getValue());
    }
    return json;
  }

  /** With what the CUTLASS profiler measured, which is another run: it is in no mean. */
  private static KernelReport beside(
      GemmWorkload workload, KernelReport bench, @Nullable CutlassCsv cutlass, Progress progress) {
    if (cutlass == null || bench.timing() == null) {
      return bench;
    }
    Optional<CutlassCsv.Row> row = cutlass.best(workload);
    if (row.isEmpty()) {
      progress.say(cutlass.file() + " has no measurement of " + GemmKeys.of(workload).text());
      return bench;
    }
    double us = row.get().us();
    String name = ("CUTLASS, from the file: " + row.get().operation()).strip();
    return bench.withPeer(
        new KernelReport.Peer(
            name, new KernelReport.Times(us, Double.NaN), us / bench.timing().times().graphUs()));
  }

  private static String origin(TunedGemm kernel) {
    return kernel.origin().name().toLowerCase(Locale.ROOT);
  }

  /** Time of the fastest peer by ours; 0 if one of them is missing. */
  static double ratio(KernelReport bench) {
    return bench.peers().stream().mapToDouble(KernelReport.Peer::ratio).min().orElse(0);
  }

  private static String row(KernelReport bench, TunedGemm kernel) {
    if (bench.timing() == null) {
      return "%-46s WRONG: %s".formatted(bench.workload(), bench.failure());
    }
    double ours = bench.timing().times().graphUs();
    double ratio = ratio(bench);
    return String.format(
        Locale.ROOT,
        "%-46s %10.2f %10.2f %8.3f  %s %s",
        bench.workload(),
        ours,
        ours * ratio,
        ratio,
        origin(kernel),
        kernel.candidate().point().text());
  }
}
