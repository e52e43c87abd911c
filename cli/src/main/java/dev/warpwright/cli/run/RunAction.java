package dev.warpwright.cli.run;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Reference;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.model.function.Precision;
import dev.warpwright.model.graph.Value;
import dev.warpwright.sim.Verification;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Compiles a model, runs it, and verifies what came out. */
public final class RunAction implements Action<RunRequest> {
  /** Multiply-adds that the interpreter is given; beyond, it checks a random part of the rows. */
  private static final long REFERENCE_WORK = 150_000_000L;

  /** Runs between two looks at the clock. */
  private static final int ROUND = 5;

  /** Seconds after which the JVM has compiled what runs often. */
  private static final double WARM = 1;

  @Override
  public Report perform(RunRequest request, Progress progress) {
    Model model = Models.ofOneOutput(request.model(), Models.load(request.model()), progress);
    Precision file = Precision.of(model.graph());
    Precision precision = request.model().precision() == null ? file : request.model().precision();
    Value result = model.graph().outputs().getFirst();
    int features = result.features();
    RunInput input = RunInput.of(request, model.graph().inputs().getFirst(), features, progress);
    double[] expected = input.expected(request, result);
    request.output().check(input.rows(), features);
    NonFinite.tell(request.model().file().toString(), model.graph(), progress);
    boolean mustRun = request.expect() != null || request.output().file() != null;
    try (Device device = Devices.open(request.model().target(), mustRun, progress);
        CompiledModel compiled = model.compile(device, precision)) {
      ProgramText.write(request.model().emit(), compiled, input.rows(), progress);
      if (!Devices.canRun(device)) {
        Report report = CompileOnly.report(request.model(), compiled, input.rows());
        Devices.tellNotRun(device, progress);
        return report;
      }
      float[] output = compiled.run(input.values());
      double tolerance =
          request.relative().orElse(Math.max(file.tolerance(), precision.tolerance()));
      RunReport report = new RunReport(request, compiled, input.rows(), tolerance);
      Executable executable = compiled.executable(input.rows());
      executable.findings().forEach(progress::say);
      verify(report, model, input, expected, output, features, progress);
      time(report, executable, request.seconds(), device);
      request.output().write(output, input.leading(), result);
      return report.report(executable);
    }
  }

  /** Compares all rows with what is expected, or as many as the interpreter can compute. */
  private static void verify(
      RunReport report,
      Model model,
      RunInput input,
      double @Nullable [] expected,
      float[] output,
      int features,
      Progress progress) {
    int rows = input.rows();
    if (expected != null) {
      report.verified(Verification.compare(widen(output), expected), expected, rows);
      return;
    }
    Reference reference = new Reference(model.graph());
    int affordable =
        (int) Math.clamp(REFERENCE_WORK / Math.max(1, reference.work()), 1, Integer.MAX_VALUE);
    int[] chosen =
        rows <= affordable
            ? null
            : new Random().ints(0, rows).distinct().limit(affordable).sorted().toArray();
    if (chosen != null) {
      progress.say(
          "verifying " + affordable + " random rows of " + rows + "; give --expect to verify all");
    }
    float[] x = rows(input.values(), input.values().length / Math.max(1, rows), chosen);
    int checked = Math.min(rows, affordable);
    double[] right = reference.outputs(checked, List.of(x)).getFirst();
    report.verified(
        Verification.compare(widen(rows(output, features, chosen)), right), right, checked);
  }

  /** These rows of a matrix; all of them for null. */
  private static float[] rows(float[] values, int columns, int @Nullable [] chosen) {
    if (chosen == null) {
      return values;
    }
    float[] some = new float[chosen.length * columns];
    for (int i = 0; i < chosen.length; i++) {
      System.arraycopy(values, chosen[i] * columns, some, i * columns, columns);
    }
    return some;
  }

  /**
   * Measures for the given time. The last round counts: the JVM compiles a kernel to machine code
   * only after it has run for a while.
   */
  private static void time(RunReport report, Executable executable, double seconds, Device device) {
    long start = System.nanoTime();
    Executable.Timing timing;
    int round = 1;
    do {
      timing = executable.time(round);
      round = ROUND;
    } while ((System.nanoTime() - start) / 1e9 < seconds);
    report.timed(timing, !(device instanceof CpuDevice) || seconds >= WARM);
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    Arrays.setAll(wide, i -> values[i]);
    return wide;
  }
}
