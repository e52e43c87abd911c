package dev.warpwright.cli.tuning;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.bench.KernelReport;
import dev.warpwright.compiler.tune.GemmKeys;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.UserError;
import dev.warpwright.ir.json.Json;
import dev.warpwright.tune.record.TuningDatabase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Measures figures and says which of them are reached. */
public final class AcceptAction implements Action<AcceptRequest> {
  /** Each time is the median of a few rounds: there are many products. */
  private static final int ROUNDS = 5;

  @Override
  public Report perform(AcceptRequest request, Progress progress) {
    TuningDevice here = TuningDevice.find();
    long start = System.nanoTime();
    try (TuningDatabase database = TuningStore.open(request.database(), progress)) {
      Run run = new Run(request, here, database, progress, start);
      List<Result> results = request.figures().stream().map(run::measure).toList();
      return report(here, results, (System.nanoTime() - start) * 1e-9);
    }
  }

  /** A ratio, or why there is none. */
  private record Line(String workload, double ratio, @Nullable String failure) {}

  private record Result(AcceptanceFigure figure, List<Line> lines) {
    double mean() {
      return Math.exp(
          lines.stream()
              .filter(line -> line.failure() == null)
              .mapToDouble(line -> Math.log(line.ratio()))
              .average()
              .orElse(Double.NaN));
    }

    double least() {
      return lines.stream()
          .filter(line -> line.failure() == null)
          .mapToDouble(Line::ratio)
          .min()
          .orElse(Double.NaN);
    }

    boolean complete() {
      return lines.stream().allMatch(line -> line.failure() == null);
    }

    boolean passed() {
      return complete() && mean() >= figure.mean() && least() >= figure.least();
    }
  }

  /** What one run knows. */
  private record Run(
      AcceptRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress,
      long start,
      Map<GemmWorkload, KernelReport> measured) {
    Run(
        AcceptRequest request,
        TuningDevice here,
        TuningDatabase database,
        Progress progress,
        long start) {
      this(request, here, database, progress, start, new HashMap<>());
    }

    Result measure(AcceptanceFigure figure) {
      List<Line> lines = new ArrayList<>();
      for (GemmWorkload workload : figure.workloads()) {
        Line line = line(figure, workload);
        progress.say(
            "%s, %s: %s"
                .formatted(
                    figure.name(),
                    line.workload(),
                    line.failure() == null
                        ? String.format(Locale.ROOT, "%.3f", line.ratio())
                        : line.failure()));
        lines.add(line);
      }
      return new Result(figure, lines);
    }

    private Line line(AcceptanceFigure figure, GemmWorkload workload) {
      String name = GemmKeys.of(workload).text();
      if ((System.nanoTime() - start) * 1e-9 > request.seconds()) {
        return new Line(name, Double.NaN, "not measured: the time was up");
      }
      try {
        KernelReport tuned = measured.get(workload);
        if (tuned == null) {
          tuned = bench(workload, false);
          measured.put(workload, tuned);
        }
        if (tuned.timing() == null) {
          return new Line(name, Double.NaN, String.valueOf(tuned.failure()));
        }
        return switch (figure.of()) {
          case PEER -> {
            double ratio = PerfAction.ratio(tuned);
            yield ratio > 0
                ? new Line(name, ratio, null)
                : new Line(name, Double.NaN, "no peer is installed");
          }
          case UNTUNED -> {
            KernelReport untuned = bench(workload, true);
            yield untuned.timing() == null
                ? new Line(name, Double.NaN, String.valueOf(untuned.failure()))
                : new Line(
                    name,
                    tuned.timing().times().graphUs() / untuned.timing().times().graphUs(),
                    null);
          }
        };
      } catch (UserError | DeviceError e) {
        return new Line(name, Double.NaN, String.valueOf(e.getMessage()));
      }
    }

    private KernelReport bench(GemmWorkload workload, boolean untuned) {
      return TuneAction.bench(
          PerfAction.kernel(workload, untuned, here, database).candidate(),
          ROUNDS,
          here,
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
              "%s  %-24s mean %.3f (must %.3f), least %.3f (must %.3f), %d products",
              result.passed() ? "PASS" : "FAIL",
              figure.name(),
              result.mean(),
              figure.mean(),
              result.least(),
              figure.least(),
              result.lines().size()));
      for (Line line : result.lines()) {
        if (line.failure() != null || line.ratio() < figure.least()) {
          lines.add(
              "        %s: %s"
                  .formatted(
                      line.workload(),
                      line.failure() == null
                          ? String.format(Locale.ROOT, "%.3f", line.ratio())
                          : OneLine.of(line.failure())));
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
                        .with("failure", line.failure())));
  }
}
