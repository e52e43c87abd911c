package dev.warpwright.cli.run;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.predict.NetworkPrediction;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Gathers what is known of a run, and tells it. */
final class RunReport {
  /** Code that the JVM has not compiled yet is some 100 times as slow. */
  private static final double INTERPRETED = 20;

  private final RunRequest request;
  private final CompiledModel compiled;
  private final int rows;
  private final double tolerance;
  private final double widened;
  private final List<VerifiedOutput> outputs = new ArrayList<>();
  private Executable.@Nullable Timing timing;
  private boolean warm;
  private @Nullable PictureQuality picture;

  /** Who allows the whole more also allows each element more. */
  RunReport(RunRequest request, CompiledModel compiled, int rows) {
    this.request = request;
    this.compiled = compiled;
    this.rows = rows;
    double usual = compiled.precision().tolerance();
    this.tolerance = request.relative().orElse(usual);
    this.widened = Math.max(1, tolerance / usual);
  }

  /** Takes the comparison of the next output with its right values. */
  void verified(VerifiedOutput output) {
    outputs.add(output);
  }

  /** Takes how near the picture is to another one. */
  void pictured(PictureQuality quality) {
    picture = quality;
  }

  /** Takes the measurement; {@code steady} says whether it would be the same later. */
  void timed(Executable.Timing measured, boolean steady) {
    timing = measured;
    warm = steady;
  }

  /**
   * Whether a time is so far over what is predicted that it is an interpreter's, however steady.
   */
  boolean isInterpreted(double micros) {
    return micros > INTERPRETED * figure(micros).predicted();
  }

  private String unsteady() {
    return request.seconds() < 1
        ? " in the first calls, while the JVM warms up (--time 2 measures on)"
        : ", not steady: the JVM still compiles, or the cores are busy";
  }

  Report report(Executable executable) {
    Executable.Timing measured = Objects.requireNonNull(timing);
    boolean clean = executable.findings().isEmpty();
    boolean ok = clean && outputs.stream().allMatch(this::isRight);
    List<Executable.KernelFacts> facts = executable.kernelFacts();
    List<Json> kernels = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < facts.size(); i++) {
      CompiledKernel kernel = compiled.program(rows).kernels().get(i);
      kernels.add(json(facts.get(i), kernel, figure(kernel, measured.kernelUs().get(i))));
      lines.append(
          String.format(
              Locale.ROOT,
              "%n  %-12s %s  %s, %d stages",
              facts.get(i).name(),
              figure(kernel, measured.kernelUs().get(i)).text(),
              kernel.strategy(),
              kernel.stages().size()));
    }
    String head =
        String.format(
            Locale.ROOT,
            "%s on %s in %s, %d rows: %d kernel%s, %s%s",
            OneLine.of(request.model().title()),
            compiled.device().name(),
            compiled.precision().text(),
            rows,
            facts.size(),
            facts.size() == 1 ? "" : "s",
            (isSimulated() ? "simulated, on a real one " : "") + figure(measured.totalUs()).text(),
            warm ? "" : unsteady());
    Json.Members json =
        Json.object()
            .with("model", request.model().title())
            .with("target", compiled.device().target().name())
            .with("device", compiled.device().name())
            .with("precision", compiled.precision().text())
            .with("rows", rows)
            .with("kernels", new Json.Array(kernels))
            .with("timeUs", measured.totalUs());
    json =
        figure(measured.totalUs())
            .into(json)
            .with("maxAbsError", worst(Verification::maxAbsError))
            .with("relError", worst(Verification::relError))
            .with("rtol", tolerance)
            .with(
                "worstElement",
                outputs.stream().mapToDouble(VerifiedOutput::element).max().orElse(0) / widened)
            .with("warm", warm)
            .with("checkedRows", outputs.stream().mapToInt(VerifiedOutput::rows).min().orElse(0))
            .with(
                "nonFiniteMismatches",
                outputs.stream().mapToLong(each -> each.result().nonFiniteMismatches()).sum())
            .with(
                "outputs", Json.array(outputs, each -> each.json(clean && isRight(each), widened)))
            .with("findings", Json.array(executable.findings(), Json::of))
            .with("verified", ok);
    for (VerifiedOutput each : outputs) {
      boolean right = clean && isRight(each);
      lines
          .append(System.lineSeparator())
          .append(each.verdict(right, tolerance, widened, outputs.size() > 1));
    }
    if (picture != null) {
      lines.append(System.lineSeparator()).append(picture.text());
      json = json.with("picture", picture.json());
    }
    return new Report(ok, head + lines, json);
  }

  private boolean isRight(VerifiedOutput output) {
    return output.isRight(request, tolerance, widened);
  }

  private double worst(ToDoubleFunction<Verification> error) {
    return outputs.stream().map(VerifiedOutput::result).mapToDouble(error).max().orElse(0);
  }

  private boolean isSimulated() {
    return compiled.device() instanceof SimulatedDevice;
  }

  /** A kernel's time; none for the simulator, whose own says nothing. */
  private Figure figure(CompiledKernel kernel, double micros) {
    CompiledProgram program = compiled.program(rows);
    return figure(
        micros,
        compiled.device().target() instanceof HostTarget host
            ? NetworkPrediction.onHost(program, kernel, rows, host.cores())
            : gpu()
                .map(gpu -> NetworkPrediction.of(program, kernel, rows, gpu))
                .orElse(Prediction.NONE));
  }

  /** The whole network's time. */
  private Figure figure(double micros) {
    CompiledProgram program = compiled.program(rows);
    return figure(
        micros,
        compiled.device().target() instanceof HostTarget host
            ? NetworkPrediction.onHost(program, rows, host.cores())
            : gpu().map(gpu -> NetworkPrediction.of(program, rows, gpu)).orElse(Prediction.NONE));
  }

  private Figure figure(double micros, Prediction prediction) {
    return isSimulated() ? Figure.expected(prediction) : Figure.measured(micros, prediction);
  }

  private Optional<DeviceModel> gpu() {
    return Prediction.device(compiled.device().name(), compiled.device().target());
  }

  private static Json json(Executable.KernelFacts fact, CompiledKernel kernel, Figure figure) {
    Json.Members json =
        Json.object()
            .with("name", fact.name())
            .with("strategy", kernel.strategy())
            .with("ops", Json.array(kernel.stages(), Json::of))
            .with("grid", Json.array(fact.grid(), Json::of))
            .with("block", Json.array(fact.block(), b -> Json.of((long) b)))
            .with("sharedBytes", fact.sharedBytes())
            .with("registers", fact.registers())
            .with("timeUs", Double.isNaN(figure.measured()) ? 0 : figure.measured());
    return figure.into(json);
  }
}
