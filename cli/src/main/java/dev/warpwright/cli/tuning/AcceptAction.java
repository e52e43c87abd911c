package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.bench.KernelBench;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.space.Candidate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Measures figures and says which of them are reached. */
public final class AcceptAction implements Action<AcceptRequest> {
  /** Each time is the median of a few rounds: there are many products. */
  private static final int ROUNDS = 5;

  private static final String UNTUNED = "untuned";

  @Override
  public Report perform(AcceptRequest request, Progress progress) {
    TuningDevice here = TuningDevice.find();
    DeviceQueue.Turn turn = here.turn("accept", progress);
    long start = System.nanoTime();
    try (turn;
        TuningDatabase database = TuningStore.open(request.database(), progress);
        AcceptKernels kernels = new AcceptKernels(request.figures(), here, database);
        Run run = new Run(request, here, kernels, progress, start)) {
      List<Result> results = request.figures().stream().map(run::measure).toList();
      return report(here, results, (System.nanoTime() - start) * 1e-9);
    }
  }

  /**
   * A ratio, or why there is none.
   *
   * @param timeUs of our kernel
   * @param otherUs of what it is compared with; NaN if no library computes this product
   * @param other its name
   * @param origin how the kernel was found
   */
  private record Line(
      String workload,
      double ratio,
      double timeUs,
      double otherUs,
      String other,
      String origin,
      @Nullable String failure) {
    static Line failed(String workload, @Nullable String failure) {
      return new Line(
          workload, Double.NaN, Double.NaN, Double.NaN, "", "", String.valueOf(failure));
    }

    boolean isCompared() {
      return failure == null && !Double.isNaN(ratio);
    }
  }

  private record Result(AcceptanceFigure figure, List<Line> lines) {
    double mean() {
      return Math.exp(
          compared().mapToDouble(line -> Math.log(line.ratio())).average().orElse(Double.NaN));
    }

    double least() {
      return compared().mapToDouble(Line::ratio).min().orElse(Double.NaN);
    }

    Stream<Line> compared() {
      return lines.stream().filter(Line::isCompared);
    }

    boolean complete() {
      return lines.stream().allMatch(line -> line.failure() == null);
    }

    boolean passed() {
      return complete() && mean() >= figure.mean() && least() >= figure.least();
    }
  }

  /** What one run knows. */
  private static final class Run implements AutoCloseable {
    private final AcceptRequest request;
    private final TuningDevice here;
    private final AcceptKernels kernels;
    private final Progress progress;
    private final long start;
    private final Map<GemmWorkload, KernelReport> measured = new HashMap<>();
    private @Nullable GpuDevice device;

    Run(
        AcceptRequest request,
        TuningDevice here,
        AcceptKernels kernels,
        Progress progress,
        long start) {
      this.request = request;
      this.here = here;
      this.kernels = kernels;
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

    Result measure(AcceptanceFigure figure) {
      List<Line> lines = new ArrayList<>();
      for (GemmWorkload workload : figure.workloads()) {
        Line line = line(figure, workload);
        progress.say(
            String.format(
                Locale.ROOT,
                "%4.0f s  %s, %s: %s",
                seconds(),
                figure.name(),
                line.workload(),
                line.failure() == null
                    ? String.format(Locale.ROOT, "%.3f, %.2f us", line.ratio(), line.timeUs())
                    : OneLine.of(line.failure())));
        lines.add(line);
      }
      return new Result(figure, lines);
    }

    private double seconds() {
      return (System.nanoTime() - start) * 1e-9;
    }

    private Line line(AcceptanceFigure figure, GemmWorkload workload) {
      String name = GemmKeys.of(workload).text();
      KernelReport report = measured.get(workload);
      if (report == null && seconds() > request.seconds()) {
        return Line.failed(name, "not measured: the time was up");
      }
      try {
        AcceptKernels.Pair pair = kernels.get(workload);
        if (report == null) {
          report = bench(pair);
          measured.put(workload, report);
        }
        if (report.timing() == null) {
          return Line.failed(name, report.failure());
        }
        double us = report.timing().times().graphUs();
        String origin = PerfAction.origin(pair.tuned());
        return switch (figure.of()) {
          case PEER ->
              report.peers().stream()
                  .min(Comparator.comparingDouble(KernelReport.Peer::ratio))
                  .map(
                      peer ->
                          new Line(
                              name,
                              peer.ratio(),
                              us,
                              peer.times().graphUs(),
                              peer.name(),
                              origin,
                              null))
                  // Of 8-bit floats the libraries take rows of whole 16 bytes only.
                  .orElse(new Line(name, Double.NaN, us, Double.NaN, "", origin, null));
          case UNTUNED -> untuned(name, us, origin, report, pair);
        };
      } catch (UserError | DeviceError e) {
        if (device != null && device.context().isLost()) {
          close();
        }
        return Line.failed(name, e.getMessage());
      }
    }

    private static Line untuned(
        String name, double us, String origin, KernelReport report, AcceptKernels.Pair pair) {
      if (pair.untuned() == null) {
        // The model's choice is what tuning found.
        return new Line(name, 1, us, us, UNTUNED, origin, null);
      }
      KernelReport.Rival rival = report.rivals().getFirst();
      return rival.failure() == null
          ? new Line(name, 1 / rival.ratio(), us, rival.timeUs(), UNTUNED, origin, null)
          : Line.failed(name, rival.failure());
    }

    private KernelReport bench(AcceptKernels.Pair pair) {
      if (device == null) {
        device = GpuDevice.require(here.target());
      }
      List<KernelBench.Rival> rivals =
          Stream.ofNullable(pair.untuned())
              .map(other -> new KernelBench.Rival(UNTUNED, other.kernel().get(), other.values()))
              .toList();
      Candidate tuned = pair.tuned().candidate();
      return KernelBench.run(
          new KernelBench.Request(
              tuned.kernel().get(),
              tuned.values(),
              TuneAction.SEED,
              ROUNDS,
              0,
              rivals,
              OptionalDouble.of(tuned.features().predictedUs())),
          device,
          line -> {});
    }
  }

  private static Report report(TuningDevice here, List<Result> results, double seconds) {
    List<String> lines = new ArrayList<>();
    for (Result result : results) {
      AcceptanceFigure figure = result.figure();
      lines.add(
          String.format(
              Locale.ROOT,
              "%s  %-24s mean %.3f (must %.3f), least %.3f (must %.3f), %d of %d products",
              result.passed() ? "PASS" : "FAIL",
              figure.name(),
              result.mean(),
              figure.mean(),
              result.least(),
              figure.least(),
              result.compared().count(),
              result.lines().size()));
      for (Line line : result.lines()) {
        if (!line.isCompared() || line.ratio() < figure.least()) {
          lines.add(
              String.format(
                  Locale.ROOT,
                  "        %s: %s",
                  line.workload(),
                  line.failure() != null
                      ? OneLine.of(line.failure())
                      : line.isCompared()
                          ? String.format(Locale.ROOT, "%.3f", line.ratio())
                          : String.format(
                              Locale.ROOT, "%.2f us, which no peer computes", line.timeUs())));
        }
      }
    }
    lines.add(String.format(Locale.ROOT, "%.0f s on %s", seconds, here.name()));
    boolean passed = results.stream().allMatch(Result::passed);
    return new Report(
        passed,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("device", here.name())
            .with("seconds", seconds)
            .with("passed", passed)
            .with("figures", Json.array(results, AcceptAction::json)));
  }

  private static Json json(Result result) {
    return Json.object()
        .with("name", result.figure().name())
        .with("passed", result.passed())
        .with("mean", result.mean())
        .with("mustMean", result.figure().mean())
        .with("least", result.least())
        .with("mustLeast", result.figure().least())
        .with(
            "products",
            Json.array(
                result.lines(),
                line ->
                    Json.object()
                        .with("workload", line.workload())
                        .with("ratio", line.ratio())
                        .with("timeUs", line.timeUs())
                        .with("otherUs", line.otherUs())
                        .with("other", line.other())
                        .with("origin", line.origin())
                        .with("failure", line.failure())));
  }
}
