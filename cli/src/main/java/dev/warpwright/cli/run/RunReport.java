package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.predict.Prediction;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.json.Json;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.HostTarget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Gathers what is known of a run, and tells it. */
final class RunReport {
  private final RunRequest request;
  private final CompiledModel compiled;
  private final int rows;
  private final double tolerance;
  private final double widened;
  private @Nullable Verification verification;
  private Deviations elements = Deviations.NONE;
  private String worst = "";
  private long expectedNans;
  private int checkedRows;
  private Executable.@Nullable Timing timing;
  private boolean warm;

  /** Who allows the whole more also allows each element more. */
  RunReport(RunRequest request, CompiledModel compiled, int rows) {
    this.request = request;
    this.compiled = compiled;
    this.rows = rows;
    double usual = compiled.precision().tolerance();
    this.tolerance = request.relative().orElse(usual);
    this.widened = Math.max(1, tolerance / usual);
  }

  /** Takes the comparison of an output with what it should be. */
  void verified(Expectation right, float[] output, int features) {
    verification = right.compare(output, features);
    elements = right.elements(output, features);
    worst = elements.at() < 0 ? "" : right.place(elements.at(), features);
    expectedNans = Arrays.stream(right.values()).filter(Double::isNaN).count();
    checkedRows = right.rows();
  }

  /** Takes the measurement; {@code steady} says whether it would be the same later. */
  void timed(Executable.Timing measured, boolean steady) {
    timing = measured;
    warm = steady;
  }

  Report report(Executable executable) {
    Verification result = Objects.requireNonNull(verification);
    Executable.Timing measured = Objects.requireNonNull(timing);
    boolean accurate =
        request.absolute().isPresent()
            ? result.within(tolerance, request.absolute().getAsDouble())
            : result.within(tolerance);
    boolean ok =
        accurate
            && elements.element() <= widened
            && expectedNans == 0
            && executable.findings().isEmpty();
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
            OneLine.of(request.model().file().toString()),
            compiled.device().name(),
            compiled.precision().text(),
            rows,
            facts.size(),
            facts.size() == 1 ? "" : "s",
            (isSimulated() ? "simulated, on a real one " : "") + figure(measured.totalUs()).text(),
            warm ? "" : " while the JVM warms up (--time 2 measures on)");
    Json.Members json =
        Json.object()
            .with("model", request.model().file().toString())
            .with("target", compiled.device().target().name())
            .with("device", compiled.device().name())
            .with("precision", compiled.precision().text())
            .with("rows", rows)
            .with("kernels", new Json.Array(kernels))
            .with("timeUs", measured.totalUs());
    json =
        figure(measured.totalUs())
            .into(json)
            .with("maxAbsError", result.maxAbsError())
            .with("relError", result.relError())
            .with("rtol", tolerance)
            .with("worstElement", elements.element() / widened)
            .with("warm", warm)
            .with("checkedRows", checkedRows)
            .with("nonFiniteMismatches", result.nonFiniteMismatches())
            .with("findings", Json.array(executable.findings(), Json::of))
            .with("verified", ok);
    return new Report(ok, head + lines + System.lineSeparator() + verdict(ok, result), json);
  }

  private String verdict(boolean ok, Verification result) {
    String words =
        String.format(
            Locale.ROOT,
            "%s: relative error %.2e (at most %.0e), largest absolute error %.2e",
            ok ? "verified" : "WRONG",
            result.relError(),
            tolerance,
            result.maxAbsError());
    if (expectedNans > 0) {
      return words + "; the right output has " + expectedNans + " NaN, so nothing is proved";
    }
    if (result.nonFiniteMismatches() > 0) {
      return words + "; " + result.nonFiniteMismatches() + " elements are wrongly NaN or infinite";
    }
    return elements.element() <= widened
        ? words
        : words
            + String.format(
                Locale.ROOT,
                "; element %s is %.3g times as far off as it may be",
                worst,
                elements.element() / widened);
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
            ? Prediction.onHost(program, kernel, rows, host.cores())
            : gpu().map(gpu -> Prediction.of(program, kernel, rows, gpu)).orElse(Prediction.NONE));
  }

  /** The whole network's time. */
  private Figure figure(double micros) {
    CompiledProgram program = compiled.program(rows);
    return figure(
        micros,
        compiled.device().target() instanceof HostTarget host
            ? Prediction.onHost(program, rows, host.cores())
            : gpu().map(gpu -> Prediction.of(program, rows, gpu)).orElse(Prediction.NONE));
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
