package dev.warpwright.cli.kernels;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Spread;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Runs the kernel of a file on a GPU, verified, beside cuBLAS. */
public final class KernelBenchmark {
  private KernelBenchmark() {}

  public static Report report(KernelRequest request, KernelFile file, Progress progress) {
    List<Kernel> kernels = file.gridKernels(request.attributes());
    if (kernels.size() != 1) {
      throw new UserError(
          request.file() + ": --bench takes a file of one kernel, this has " + kernels.size());
    }
    Kernel kernel = kernels.getFirst();
    // Mistakes in the request come before those of the machine.
    BoundKernel.of(kernel, request.values());
    try (Gpu device = open(request.target())) {
      return report(
          KernelBench.run(
              new KernelBench.Request(
                  kernel,
                  request.values(),
                  request.seed(),
                  request.timing().rounds(),
                  request.timing().repeats()),
              device,
              progress::say));
    }
  }

  private static Gpu open(TargetName name) {
    return switch (name) {
      case AUTO ->
          Gpu.find()
              .orElseThrow(() -> new DeviceError(Devices.whyNoGpu() + "; --bench needs a GPU"));
      case CPU, SIM -> throw new UserError("--target " + name.text() + ": --bench needs a GPU");
      case SM_75, SM_80, SM_86, SM_89, SM_90A ->
          Devices.require(Devices.target(name), "--bench needs a GPU");
    };
  }

  public static Report report(KernelReport report) {
    return new Report(report.verified(), text(report), json(report));
  }

  private static String text(KernelReport r) {
    List<String> lines = new ArrayList<>();
    lines.add(r.workload() + " on " + r.device());
    KernelReport.Compiled compiled = r.compiled();
    lines.add(
        String.format(
            Locale.ROOT,
            "%d registers, %d bytes of shared memory, %d local, %d spilled; source %s",
            compiled.registers(),
            compiled.sharedBytes(),
            compiled.localBytes(),
            compiled.spills(),
            compiled.sourceHash().substring(0, 12)));
    for (KernelReport.Repeats repeats : r.repeats()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "%d launches, %s: %s",
              repeats.runs(),
              repeats.mode(),
              repeats.mismatches() == 0 ? "all equal" : repeats.mismatches() + " differences"));
    }
    if (r.timing() != null) {
      KernelReport.Timing timing = r.timing();
      lines.add(
          String.format(
              Locale.ROOT,
              "%-46s %12s %15s %12s %10s %9s",
              "",
              "in a graph",
              "quartiles",
              "one launch",
              "TFLOP/s",
              "ratio"));
      lines.add(
          row(
              "this kernel",
              timing.times(),
              String.format(Locale.ROOT, "%10.1f", timing.tflops()),
              ""));
      lines.add(Figure.measured(timing.times().graphUs(), timing.expected()).text());
      for (KernelReport.Baseline baseline : r.baselines()) {
        lines.add(
            row(
                baseline.name(),
                baseline.times(),
                String.format(
                    Locale.ROOT,
                    "%10.1f",
                    timing.tflops() * timing.times().graphUs() / baseline.times().graphUs()),
                String.format(Locale.ROOT, "%9.3f", baseline.ratio())));
      }
      for (KernelReport.BaselineKernel baselineKernel : r.baselineKernels()) {
        lines.add(
            baselineKernel.failure() != null
                ? baselineKernel.name() + ": not timed: " + baselineKernel.failure()
                : String.format(
                    Locale.ROOT,
                    "%-46s %9.2f us %15s %12s %10.1f %9.3f",
                    baselineKernel.name(),
                    baselineKernel.timeUs(),
                    "",
                    "",
                    timing.tflops() / baselineKernel.ratio(),
                    baselineKernel.ratio()));
      }
      for (KernelReport.Excluded excluded : r.excluded()) {
        lines.add(excluded(excluded, timing.times().graphUs(), r.tolerance()));
      }
    }
    lines.add(
        r.failure() != null
            ? "WRONG: " + r.failure()
            : String.format(
                Locale.ROOT,
                "verified: relative error %.2e (at most %.0e), largest absolute error %.2e",
                r.relError(),
                r.tolerance(),
                r.maxAbsError()));
    return String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList());
  }

  /** A library that is no baseline, with the figures by which everybody can judge. */
  public static String excluded(KernelReport.Excluded excluded, double oursUs, double tolerance) {
    return String.format(
        Locale.ROOT,
        "no baseline, counted for nobody: %s, relative error %.2e (at most %.0e), %s us beside our"
            + " %s us, ratio %.3f",
        excluded.name(),
        excluded.relError(),
        tolerance,
        Figure.number(excluded.times().graphUs()),
        Figure.number(oursUs),
        excluded.ratio());
  }

  private static String row(String name, KernelReport.Times times, String rate, String ratio) {
    return String.format(
        Locale.ROOT,
        "%-46s %9.2f us %15s %12s %s %s",
        name,
        times.graphUs(),
        Spread.text(times.graph()),
        Double.isNaN(times.launchUs())
            ? "-"
            : String.format(Locale.ROOT, "%9.2f us", times.launchUs()),
        rate,
        ratio);
  }

  private static Json json(KernelReport r) {
    KernelReport.Timing timing = r.timing();
    KernelReport.Compiled compiled = r.compiled();
    Json.Members json =
        Json.object()
            .with("workload", r.workload())
            .with("target", r.target())
            .with("device", r.device())
            .with("seed", r.seed());
    if (timing != null) {
      json =
          Figure.measured(timing.times().graphUs(), timing.expected())
              .into(
                  json.with("timeUs", timing.times().graphUs())
                      .with("spread", Spread.json(timing.times().graph())))
              .with("launchUs", timing.times().launchUs())
              .with("tflops", timing.tflops())
              .with("gbps", timing.gbps())
              .with("sets", timing.sets())
              .with("rounds", timing.rounds());
    }
    return json.with("relError", r.relError())
        .with("rtol", r.tolerance())
        .with("maxAbsError", r.maxAbsError())
        .with("verified", r.verified())
        .with("failure", r.failure())
        .with("sourceHash", compiled.sourceHash())
        .with("registers", compiled.registers())
        .with("sharedBytes", compiled.sharedBytes())
        .with("localBytes", compiled.localBytes())
        .with("spills", compiled.spills())
        .with("warnings", Json.array(compiled.warnings(), Json::of))
        .with(
            "repeats",
            Json.array(
                r.repeats(),
                repeats ->
                    Json.object()
                        .with("mode", repeats.mode())
                        .with("runs", repeats.runs())
                        .with("mismatches", repeats.mismatches())))
        .with(
            "peers",
            Json.array(
                r.baselines(),
                baseline ->
                    Json.object()
                        .with("name", baseline.name())
                        .with("timeUs", baseline.times().graphUs())
                        .with("spread", Spread.json(baseline.times().graph()))
                        .with("launchUs", baseline.times().launchUs())
                        .with("ratio", baseline.ratio())))
        .with("excluded", Json.array(r.excluded(), KernelBenchmark::json))
        .with(
            "baselineKernels",
            Json.array(
                r.baselineKernels(),
                baselineKernel ->
                    Json.object()
                        .with("name", baselineKernel.name())
                        .with("timeUs", baselineKernel.timeUs())
                        .with("ratio", baselineKernel.ratio())
                        .with("failure", baselineKernel.failure())));
  }

  /** A library that is no baseline. */
  public static Json json(KernelReport.Excluded excluded) {
    return Json.object()
        .with("name", excluded.name())
        .with("timeUs", excluded.times().graphUs())
        .with("spread", Spread.json(excluded.times().graph()))
        .with("ratio", excluded.ratio())
        .with("relError", excluded.relError());
  }
}
