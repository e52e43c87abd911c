package dev.warpwright.cli.accept;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.PerfAction;
import dev.warpwright.cli.tuning.TestedAgain;
import dev.warpwright.cli.tuning.TuneAction;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.cli.tuning.TuningStore;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Measures figures and says which of them are reached, lost ones first. */
public final class AcceptAction implements Action<AcceptRequest> {
  /** Each time is the median of a few rounds: there are many products. */
  private static final int ROUNDS = 5;

  private static final String UNTUNED = "untuned";

  private final Supplier<TuningDevice> device;
  private final BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers;
  private final Function<GpuTarget, Bench> benches;

  /** A device that measures, for as long as it is not lost to a fault. */
  interface Bench extends AutoCloseable {
    KernelReport run(KernelBench.Request request);

    /** Whether only a new one can measure anything. */
    boolean isLost();

    @Override
    void close();
  }

  /** Measures on the GPU here. */
  public AcceptAction() {
    this(TuningDevice::find, TuningDevice::chooser, AcceptAction::here);
  }

  /** Measures elsewhere. */
  AcceptAction(
      Supplier<TuningDevice> device,
      BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers,
      Function<GpuTarget, Bench> benches) {
    this.device = device;
    this.choosers = choosers;
    this.benches = benches;
  }

  private static Bench here(GpuTarget target) {
    Gpu gpu = Gpu.require(target);
    return new Bench() {
      @Override
      public KernelReport run(KernelBench.Request request) {
        return KernelBench.run(request, gpu, line -> {});
      }

      @Override
      public boolean isLost() {
        return gpu.context().isLost();
      }

      @Override
      public void close() {
        gpu.close();
      }
    };
  }

  @Override
  public Report perform(AcceptRequest request, Progress progress) {
    TuningDevice here = device.get();
    DeviceQueue.Turn turn = here.turn("accept", progress);
    long start = System.nanoTime();
    try (turn;
        TuningDatabase database = TuningStore.open(request.database(), progress);
        AcceptKernels kernels =
            new AcceptKernels(request.figures(), here.target(), choosers.apply(here, database));
        Run run =
            new Run(
                request,
                () -> benches.apply(here.target()),
                kernels,
                new TestedAgain(here, database),
                progress,
                start)) {
      List<AcceptResult> results = request.figures().stream().map(run::measure).toList();
      return report(here, request.seed(), results, (System.nanoTime() - start) * 1e-9);
    }
  }

  /** What one run knows. */
  private static final class Run implements AutoCloseable {
    private final AcceptRequest request;
    private final Supplier<Bench> benches;
    private final AcceptKernels kernels;
    private final TestedAgain again;
    private final Progress progress;
    private final long start;
    private final Map<AcceptKernels.Asked, KernelReport> measured = new HashMap<>();
    private @Nullable Bench device;

    Run(
        AcceptRequest request,
        Supplier<Bench> benches,
        AcceptKernels kernels,
        TestedAgain again,
        Progress progress,
        long start) {
      this.request = request;
      this.benches = benches;
      this.kernels = kernels;
      this.again = again;
      this.progress = progress;
      this.start = start;
    }

    /** Gives the device back; the next product takes it again. */
    @Override
    public void close() {
      if (device != null) {
        device.close();
        device = null;
      }
    }

    AcceptResult measure(AcceptanceFigure figure) {
      List<AcceptLine> lines = new ArrayList<>();
      for (GemmWorkload workload : figure.workloads()) {
        AcceptLine line = line(figure, workload);
        progress.say(
            String.format(
                Locale.ROOT,
                "%4.0f s  %s, %s: %s",
                seconds(),
                figure.name(),
                line.workload(),
                line.text()));
        lines.add(line);
      }
      return new AcceptResult(figure, lines);
    }

    private double seconds() {
      return (System.nanoTime() - start) * 1e-9;
    }

    private AcceptLine line(AcceptanceFigure figure, GemmWorkload workload) {
      String name = workload.key().text();
      AcceptKernels.Asked asked = new AcceptKernels.Asked(workload, figure.isUntuned());
      KernelReport report = measured.get(asked);
      if (report == null && seconds() > request.seconds()) {
        return AcceptLine.failed(name, "not measured: the time was up");
      }
      try {
        AcceptKernels.Pair pair = kernels.get(asked);
        if (report == null) {
          report = bench(pair);
          measured.put(asked, report);
          remember(workload, pair.tuned(), report);
        }
        if (report.timing() == null) {
          return AcceptLine.failed(name, report.failure());
        }
        String origin = PerfAction.origin(pair.tuned());
        return switch (figure.of()) {
          case BASELINE -> AcceptLine.ofBaselines(name, report, origin);
          case UNTUNED -> untuned(name, report.timing(), origin, report, pair);
        };
      } catch (UserError | DeviceError e) {
        if (device != null && device.isLost()) {
          close();
        }
        return AcceptLine.failed(name, e.getMessage());
      }
    }

    /** As perf does: the next command finds the kernel tuned, or takes another. */
    private void remember(GemmWorkload workload, TunedGemm kernel, KernelReport report) {
      again.measured(workload, kernel, report);
      report.problem().ifPresent(problem -> again.failed(workload, kernel, problem));
    }

    private static AcceptLine untuned(
        String name,
        KernelReport.Timing timing,
        String origin,
        KernelReport report,
        AcceptKernels.Pair pair) {
      if (pair.untuned() == null) {
        // The model's choice is what tuning found.
        return AcceptLine.ofUntuned(name, timing, timing.times().graphUs(), origin);
      }
      // The figure is our time by the model's choice's: at most 1 where tuning helped.
      KernelReport.BaselineKernel baselineKernel = report.baselineKernels().getFirst();
      return baselineKernel.failure() == null
          ? AcceptLine.ofUntuned(name, timing, baselineKernel.timeUs(), origin)
          : AcceptLine.failed(name, baselineKernel.failure());
    }

    private KernelReport bench(AcceptKernels.Pair pair) {
      if (device == null) {
        device = benches.get();
      }
      List<KernelBench.BaselineKernel> baselineKernels =
          Stream.ofNullable(pair.untuned())
              .map(
                  other ->
                      new KernelBench.BaselineKernel(UNTUNED, other.kernel().get(), other.values()))
              .toList();
      Candidate tuned = pair.tuned().candidate();
      return device.run(
          new KernelBench.Request(
              tuned.kernel().get(),
              tuned.values(),
              TuneAction.SEED,
              ROUNDS,
              0,
              baselineKernels,
              OptionalDouble.of(pair.tuned().expectedUs())));
    }
  }

  private static Report report(
      TuningDevice here, long seed, List<AcceptResult> results, double seconds) {
    List<String> lines = new ArrayList<>();
    // Lost figures first.
    results.stream()
        .sorted(Comparator.comparing(AcceptResult::passed))
        .forEach(result -> lines.addAll(result.text()));
    lines.add(String.format(Locale.ROOT, "%.0f s on %s, seed %d", seconds, here.name(), seed));
    boolean passed = results.stream().allMatch(AcceptResult::passed);
    return new Report(
        passed,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("device", here.name())
            .with("seconds", seconds)
            .with("seed", seed)
            .with("passed", passed)
            .with("figures", Json.array(results, AcceptResult::json)));
  }
}
