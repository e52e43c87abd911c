package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.kernels.CutlassCsv;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Measures the best known kernels of products beside their baselines. A kernel that turns out to be
 * useless makes room for the next choice; of several products one that cannot be measured does not
 * stop the others.
 */
public final class PerfAction implements Action<PerfRequest> {
  private final Supplier<TuningDevice> device;
  private final BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers;
  private final TuneAction.Workers workers;
  private final Bench bench;

  /** What measures a kernel. */
  @FunctionalInterface
  interface Bench {
    /**
     * Measures.
     *
     * @param baselineKernels other kernels of the product, to be timed in the same run
     * @throws CandidateFailure if the kernel is what failed
     */
    KernelReport of(
        TunedGemm kernel,
        int rounds,
        List<KernelBench.BaselineKernel> baselineKernels,
        TuningDevice here,
        Progress progress)
        throws CandidateFailure;
  }

  /** Measures on the GPU here. */
  public PerfAction() {
    this(TuningDevice::find, TuningDevice::chooser, TuneAction.WORKERS, TuneAction::bench);
  }

  /** Measures elsewhere. */
  PerfAction(
      Supplier<TuningDevice> device,
      BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers,
      TuneAction.Workers workers,
      Bench bench) {
    this.device = device;
    this.choosers = choosers;
    this.workers = workers;
    this.bench = bench;
  }

  @Override
  public Report perform(PerfRequest request, Progress progress) {
    TuningDevice here = device.get();
    List<Measured> all = new ArrayList<>();
    List<Unmeasured> not = new ArrayList<>();
    int asked = request.tasks().stream().mapToInt(task -> task.counts().size()).sum();
    try (DeviceQueue.Turn _ = here.turn("perf", progress);
        TuningDatabase database = TuningStore.open(request.database(), progress)) {
      if (request.quick()) {
        FirstUse.measure(
            request.tasks().stream().flatMap(task -> task.workloads().stream()).toList(),
            here,
            workers,
            database,
            progress);
      }
      GemmChooser chooser = choosers.apply(here, database);
      for (Products task : request.tasks()) {
        task.counts()
            .forEach(
                (workload, count) -> {
                  try {
                    all.add(
                        measure(task, workload, count, request, here, chooser, database, progress));
                  } catch (UserError | DeviceError e) {
                    if (asked == 1) {
                      throw e;
                    }
                    Unmeasured failed = Unmeasured.of(task, workload, e);
                    progress.say(failed.line());
                    not.add(failed);
                  }
                });
      }
    }
    if (asked == 1) {
      return all.getFirst().report();
    }
    PerfTable table = new PerfTable(request.tasks(), all, not);
    Report reports =
        Reports.many(
            Stream.concat(all.stream().map(Measured::report), not.stream().map(Unmeasured::report))
                .toList());
    return new Report(reports.code(), table.text(), table.into((Json.Members) reports.json()));
  }

  /**
   * A product that could not be measured.
   *
   * @param code what the program would end with if this were all
   */
  record Unmeasured(Products task, GemmWorkload workload, String failure, int code) {
    static Unmeasured of(Products task, GemmWorkload workload, RuntimeException e) {
      return new Unmeasured(
          task,
          workload,
          String.valueOf(e.getMessage()),
          e instanceof UserError ? ExitCode.USAGE : ExitCode.DEVICE);
    }

    String line() {
      return workload.key() + ": not measured: " + OneLine.of(failure);
    }

    Report report() {
      return new Report(
          code,
          line(),
          Json.object()
              .with("key", workload.key().text())
              .with("verified", false)
              .with("failure", failure));
    }
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
    /** Time of the fastest baseline by ours; 0 if one of them is missing. */
    double ratio() {
      return PerfAction.ratio(bench);
    }
  }

  private Measured measure(
      Products task,
      GemmWorkload workload,
      int count,
      PerfRequest request,
      TuningDevice here,
      GemmChooser chooser,
      TuningDatabase database,
      Progress progress) {
    return chooser.use(
        workload,
        request.untuned(),
        (kernel, skipped) -> {
          KernelReport report = bench(workload, kernel, request, here, database, progress);
          return new Measured(
              task,
              workload,
              count,
              report,
              origin(kernel),
              kernel.candidate().point().text(),
              report(
                  workload,
                  kernel,
                  beside(workload, report, request.cutlass(), progress),
                  skipped,
                  database.tried(workload.key(), here.target().name())));
        });
  }

  /**
   * Measures a kernel. If its record was made with another source, driver, compiler or device, what
   * comes of it is recorded: from now on it is tuned, or known to fail.
   */
  private KernelReport bench(
      GemmWorkload workload,
      TunedGemm kernel,
      PerfRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress)
      throws CandidateFailure {
    int rounds = request.rounds();
    List<KernelBench.BaselineKernel> baselineKernels = baselineKernels(workload, request.beside());
    if (kernel.origin() != TunedGemm.Origin.UNTESTED) {
      return bench.of(kernel, rounds, baselineKernels, here, progress);
    }
    progress.say(
        workload.key().text()
            + ": recorded with "
            + kernel.untested()
            + "; it is verified and timed again");
    TestedAgain again = new TestedAgain(here, database);
    try {
      KernelReport report = bench.of(kernel, rounds, baselineKernels, here, progress);
      again.measured(workload, kernel, report);
      return report;
    } catch (CandidateFailure e) {
      again.failed(
          workload,
          kernel,
          new Outcome.Failed(e.reason(), OneLine.of(String.valueOf(e.getMessage()))));
      throw e;
    }
  }

  /** The kernels of files, for the shape of a product; whether they compute it is found later. */
  private static List<KernelBench.BaselineKernel> baselineKernels(
      GemmWorkload workload, List<Path> files) {
    Map<String, Long> shape = Map.of("M", workload.m(), "N", workload.n(), "K", workload.k());
    List<KernelBench.BaselineKernel> baselineKernels = new ArrayList<>();
    for (Path file : files) {
      for (Kernel kernel : KernelFile.read(file).gridKernels(Map.of())) {
        baselineKernels.add(new KernelBench.BaselineKernel(kernel.name(), kernel, shape));
      }
    }
    return baselineKernels;
  }

  private static Report report(
      GemmWorkload workload,
      TunedGemm kernel,
      KernelReport bench,
      List<Outcome.Failed> skipped,
      List<TuningRecord> tried) {
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
            .with("key", workload.key().text())
            .with("origin", origin)
            .with("untested", kernel.untested())
            .with("trace", kernel.candidate().point().text())
            .with(
                "skipped",
                Json.array(
                    skipped,
                    failure ->
                        Json.object()
                            .with("reason", failure.reason().text())
                            .with("message", failure.message())))
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
      progress.say(cutlass.file() + " has no measurement of " + workload.key().text());
      return bench;
    }
    double us = row.get().us();
    String name = ("CUTLASS, from the file: " + row.get().operation()).strip();
    return bench.withBaseline(
        new KernelReport.Baseline(
            name,
            new KernelReport.Times(Quantiles.of(us), Double.NaN),
            us / bench.timing().times().graphUs()));
  }

  public static String origin(TunedGemm kernel) {
    return kernel.origin().name().toLowerCase(Locale.ROOT);
  }

  /** Time of the fastest baseline by ours; 0 if one of them is missing. */
  static double ratio(KernelReport bench) {
    return bench.baselines().stream().mapToDouble(KernelReport.Baseline::ratio).min().orElse(0);
  }
}
