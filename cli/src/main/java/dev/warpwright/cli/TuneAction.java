package dev.warpwright.cli;

import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.bench.KernelBench;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.compiler.tune.WinnerFiles;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.space.Candidate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Tunes a product on the GPU here, and measures the winner beside its peers. */
final class TuneAction implements Action<TuneRequest> {
  @Override
  public Report perform(TuneRequest request, Progress progress) {
    TuningDevice here = TuningDevice.find();
    progress.say(
        "tuning %s on %s, records in %s"
            .formatted(GemmKeys.of(request.workload()), here.device().name(), request.database()));
    TuningProgress done;
    try (TuningDatabase database = TuningDatabase.open(request.database());
        Measurer measurer = GemmTuning.measurer(here.target(), request.options().seed())) {
      TuningView view = new TuningView(request.workload(), progress);
      done =
          GemmTuning.tune(
              request.workload(),
              here.environment(),
              here.device().multiprocessors(),
              measurer,
              database,
              request.options(),
              view::show);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    }
    TuningProgress.Best best = done.best();
    if (best == null) {
      throw new DeviceError(
          "no kernel of %d could be measured: %s"
              .formatted(done.trials(), TuningView.reasons(done)));
    }
    Candidate winner = best.candidate();
    Path folder =
        request.folder() != null
            ? request.folder()
            : TuningFiles.dataFolder()
                .resolve("tuned")
                .resolve(WinnerFiles.folderName(GemmKeys.of(request.workload()), here.target()));
    KernelReport report = bench(winner, request, here, progress);
    WinnerFiles.write(folder, request.workload(), here.environment(), done, report);
    progress.say("the winner's files are in " + folder);
    return report(request, here.environment(), done, report, folder);
  }

  private static KernelReport bench(
      Candidate winner, TuneRequest request, TuningDevice here, Progress progress) {
    try (GpuDevice device = GpuDevice.require(here.target())) {
      return KernelBench.run(
          new KernelBench.Request(
              winner.kernel().get(),
              winner.values(),
              request.options().seed() + 1,
              request.rounds(),
              0),
          device,
          progress::say);
    }
  }

  private static Report report(
      TuneRequest request,
      Environment environment,
      TuningProgress done,
      KernelReport bench,
      Path folder) {
    TuningProgress.Best best = Objects.requireNonNull(done.best());
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
            .with("key", GemmKeys.of(request.workload()).text())
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

  /** The GPU of this machine, without a context of its own. */
  record TuningDevice(CudaDevice device, GpuTarget target, Environment environment) {
    static TuningDevice find() {
      for (CudaDevice device : CudaDriver.require().devices()) {
        var target = GpuTarget.forCapability(device.major(), device.minor());
        if (target.isPresent()) {
          return new TuningDevice(
              device,
              target.get(),
              GemmTuning.environment(
                  target.get(), device, Toolkit.version(), Version.current().version()));
        }
      }
      throw new DeviceError("no GPU here is of a kind that kernels can be generated for");
    }
  }
}
