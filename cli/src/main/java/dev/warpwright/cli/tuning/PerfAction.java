package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.bench.Quantiles;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmSpace;
import dev.warpwright.compiler.tune.TunedGemm;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import java.time.Instant;
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
    List<Measured> all = new ArrayList<>();
    try (TuningDatabase database = TuningStore.open(request.database(), progress)) {
      for (Products task : request.tasks()) {
        task.counts()
            .forEach(
                (workload, count) ->
                    all.add(measure(task, workload, count, request, here, database, progress)));
      }
    }
    if (all.size() == 1) {
      return all.getFirst().report();
    }
    PerfTable table = new PerfTable(request.tasks(), all);
    Report reports = Reports.many(all.stream().map(Measured::report).toList());
    return new Report(reports.ok(), table.text(), table.into((Json.Members) reports.json()));
  }

  /**
   * A product that was measured.
   *
   * @param count how often it occurs in its task
   * @param origin of the kernel
   */
  record Measured(
      Products task,
      GemmWorkload workload,
      int count,
      KernelReport bench,
      String origin,
      String point,
      Report report) {
    /** Time of the fastest peer by ours; 0 if one of them is missing. */
    double ratio() {
      return PerfAction.ratio(bench);
    }
  }

  private static Measured measure(
      Products task,
      GemmWorkload workload,
      int count,
      PerfRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress) {
    TunedGemm kernel = kernel(workload, request.untuned(), here, database);
    if (!kernel.untested().isEmpty()) {
      progress.say(
          GemmKeys.of(workload).text()
              + ": recorded with "
              + kernel.untested()
              + "; it is verified and timed again");
    }
    KernelReport bench = TuneAction.bench(kernel.candidate(), request.rounds(), here, progress);
    if (kernel.origin() == TunedGemm.Origin.UNTESTED) {
      store(workload, kernel, bench, here, database);
    }
    Report report =
        report(
            workload,
            kernel,
            beside(workload, bench, request.cutlass(), progress),
            database.tried(GemmKeys.of(workload), here.target().name()));
    return new Measured(
        task, workload, count, bench, origin(kernel), kernel.candidate().point().text(), report);
  }

  /**
   * Records what came of a kernel whose record was made with another source, driver, compiler or
   * device: from now on it is tuned, or known to fail.
   */
  private static void store(
      GemmWorkload workload,
      TunedGemm kernel,
      KernelReport bench,
      TuningDevice here,
      TuningDatabase database) {
    KernelReport.Timing timing = bench.timing();
    Outcome outcome =
        timing == null
            ? new Outcome.Failed(
                bench.compiled().spills() > 0 ? FailureReason.SPILL : FailureReason.WRONG,
                OneLine.of(String.valueOf(bench.failure())))
            : new Outcome.Measured(
                timing.times().graphUs(),
                timing.times().graph().relativeSpread(),
                bench.relError(),
                0,
                0);
    database.add(
        new TuningRecord(
            GemmKeys.of(workload),
            here.environment(),
            kernel.candidate().point(),
            bench.compiled().sourceHash(),
            outcome,
            Instant.now()));
  }

  /** The best known kernel, or the analytic model's choice. */
  static TunedGemm kernel(
      GemmWorkload workload, boolean untuned, TuningDevice here, TuningDatabase database) {
    int multiprocessors = here.multiprocessors();
    return untuned
        ? new TunedGemm(
            TunedGemm.untuned(GemmSpace.of(workload, here.target(), multiprocessors)),
            TunedGemm.Origin.UNTUNED)
        : TunedGemm.find(workload, here.target(), here.environment(), multiprocessors, database);
  }

  private static Report report(
      GemmWorkload workload, TunedGemm kernel, KernelReport bench, List<TuningRecord> tried) {
    Report report = KernelBenchmark.report(bench);
    String origin = origin(kernel);
    return new Report(
        report.ok(),
        report.text()
            + System.lineSeparator()
            + (kernel.untested().isEmpty()
                ? origin
                : "recorded with " + kernel.untested() + ", verified and timed again just now")
            + ": "
            + kernel.candidate().point().text(),
        ((Json.Members) report.json())
            .with("key", GemmKeys.of(workload).text())
            .with("origin", origin)
            .with("untested", kernel.untested())
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
            name,
            new KernelReport.Times(Quantiles.of(us), Double.NaN),
            us / bench.timing().times().graphUs()));
  }

  static String origin(TunedGemm kernel) {
    return kernel.origin().name().toLowerCase(Locale.ROOT);
  }

  /** Time of the fastest peer by ours; 0 if one of them is missing. */
  static double ratio(KernelReport bench) {
    return bench.peers().stream().mapToDouble(KernelReport.Peer::ratio).min().orElse(0);
  }
}
