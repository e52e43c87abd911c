package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.bench.KernelBench;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.compiler.tune.WinnerFiles;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.tune.record.WorkloadKey;
import dev.warpwright.tune.space.Candidate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Tunes a product on the GPU here, and measures the winner beside its peers. */
public final class TuneAction implements Action<TuneRequest> {
  private static final long SEED = 1;

  @Override
  public Report perform(TuneRequest request, Progress progress) {
    TuningDevice here = TuningDevice.find();
    List<Report> reports = new ArrayList<>();
    // One after the other, by the same worker processes; each is measured beside its peers when no
    // worker holds the device's memory.
    List<TuningProgress> found = new ArrayList<>();
    List<List<TuningRecord>> records = new ArrayList<>();
    try (TuningDatabase database = TuningStore.open(request.database(), progress);
        Measurer measurer = GemmTuning.measurer(here.target(), SEED)) {
      for (TuneRequest.Search search : request.searches()) {
        found.add(search(search, here, measurer, database, progress));
        records.add(database.records(GemmKeys.of(search.workload()), here.environment()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    }
    for (int i = 0; i < found.size(); i++) {
      reports.add(
          finish(request.searches().get(i), found.get(i), records.get(i), request, here, progress));
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  private static TuningProgress search(
      TuneRequest.Search search,
      TuningDevice here,
      Measurer measurer,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    progress.say(
        "tuning %s on %s, records in %s"
            .formatted(GemmKeys.of(search.workload()), here.device().name(), database.file()));
    TuningView view =
        new TuningView(search.workload(), search.options().limits().seconds(), progress);
    return GemmTuning.tune(
        search.workload(),
        here.environment(),
        here.device().multiprocessors(),
        measurer,
        database,
        search.options(),
        view::show);
  }

  private static Report finish(
      TuneRequest.Search search,
      TuningProgress done,
      List<TuningRecord> records,
      TuneRequest request,
      TuningDevice here,
      Progress progress) {
    TuningProgress.Best best = done.best();
    WorkloadKey key = GemmKeys.of(search.workload());
    if (best == null) {
      throw new DeviceError(
          "%s: no kernel of %d could be measured: %s"
              .formatted(key, done.trials(), TuningView.reasons(done)));
    }
    Path parent =
        request.folder() == null ? TuningFiles.dataFolder().resolve("tuned") : request.folder();
    Path folder = parent.resolve(WinnerFiles.folderName(key, here.target()));
    KernelReport report = bench(best.candidate(), request.rounds(), here, progress);
    WinnerFiles.write(
        folder,
        search.workload(),
        here.environment(),
        here.device().multiprocessors(),
        done,
        records,
        report);
    progress.say("the winner's files are in " + folder);
    return report(key, done, best, report, folder);
  }

  /** Measures a kernel of a product beside its peers. */
  static KernelReport bench(Candidate winner, int rounds, TuningDevice here, Progress progress) {
    try (GpuDevice device = GpuDevice.require(here.target())) {
      return KernelBench.run(
          new KernelBench.Request(winner.kernel().get(), winner.values(), SEED + 1, rounds, 0),
          device,
          progress::say);
    }
  }

  private static Report report(
      WorkloadKey key,
      TuningProgress done,
      TuningProgress.Best best,
      KernelReport bench,
      Path folder) {
    Report kernel = KernelBenchmark.report(bench);
    List<String> lines = new ArrayList<>();
    lines.add(kernel.text());
    lines.add(
        String.format(
            Locale.ROOT,
            "best of %d trials (%d of earlier runs) in %.0f s: %.2f us while tuning",
            done.trials(),
            done.resumed(),
            done.seconds(),
            best.outcome().timeUs()));
    String failed = TuningView.reasons(done);
    if (!failed.isEmpty()) {
      lines.add("without a time: " + failed);
    }
    lines.add("decisions: " + best.candidate().point());
    Json.Members failures = Json.object();
    for (var failure : done.failures().entrySet()) {
      failures = failures.with(failure.getKey().text(), failure.getValue());
    }
    Json.Members rejections = Json.object();
    for (Map.Entry<String, Integer> rejection : done.rejections().entrySet()) {
      rejections = rejections.with(rejection.getKey(), rejection.getValue());
    }
    Json json =
        ((Json.Members) kernel.json())
            .with("trials", done.trials())
            .with("resumed", done.resumed())
            .with("seconds", done.seconds())
            .with("failures", failures)
            .with("rejections", rejections)
            .with("trace", best.candidate().point().text())
            .with("key", key.text())
            .with(
                "curve",
                Json.array(
                    done.curve(),
                    step ->
                        Json.object()
                            .with("trial", step.trial())
                            .with("seconds", step.seconds())
                            .with("timeUs", step.timeUs())))
            .with("folder", folder.toString());
    return new Report(kernel.ok(), String.join(System.lineSeparator(), lines), json);
  }
}
