package dev.warpwright.cli.run;

import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Value;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Compiles a model, runs it, and verifies what came out. */
public final class RunAction implements Action<RunRequest> {
  /** Runs between two looks at the clock on a GPU. */
  private static final int ROUND = 5;

  /** Microseconds that a round on the CPU takes at least. */
  private static final double ROUND_US = 5000;

  /** Seconds from which on somebody wants the time of a JVM that has compiled everything. */
  private static final double PATIENT = 1;

  /** How much longer than asked for is waited until rounds agree. */
  private static final double LONGER = 5;

  @Override
  public Report perform(RunRequest request, Progress progress) {
    Model model = Models.load(request.model());
    Precision stored = model.graph().precision();
    Precision precision =
        request.model().precision() == null ? stored : request.model().precision();
    if (request.model().gpus() instanceof ParallelRequest gpus) {
      return ParallelRun.report(request, gpus, model, precision, progress);
    }
    List<Value> outputs = model.graph().outputs();
    RunInput input = RunInput.of(request, model.graph().inputs(), outputs, progress);
    Map<Value, double[]> expected = input.expected(request, outputs);
    Map<Value, Path> files = request.output().check(input.rows(), outputs);
    double @Nullable [] picture = request.output().compared(input.rows(), outputs);
    NonFinite.tell(request.model().file().toString(), model.graph(), progress);
    boolean mustRun = !expected.isEmpty() || !files.isEmpty() || picture != null;
    try (Device device = Devices.open(request.model().target(), mustRun, progress)) {
      boolean runs = Devices.canRun(device);
      // The interpreter keeps one core busy while the compiler keeps another.
      @Nullable CompletableFuture<Expectation> reference =
          runs
              ? Expectation.begin(model, precision, input, expected, request.seed(), progress)
              : null;
      try (CompiledModel compiled = model.compile(device, precision, runs ? input.rows() : 0)) {
        ProgramText.write(request.model().emit(), compiled, input.rows(), progress);
        if (!runs) {
          Report report = CompileOnly.report(request.model(), compiled, input.rows());
          Devices.tellNotRun(device, progress);
          return report;
        }
        List<float[]> results =
            outputs.stream().map(v -> new float[input.rows() * v.features()]).toList();
        Executable executable = compiled.executable(input.rows());
        executable.run(input.rows(), input.values(), results);
        RunReport report = new RunReport(request, compiled, input.rows());
        executable.findings().forEach(progress::say);
        Expectation right = Expectation.end(Objects.requireNonNull(reference));
        for (int i = 0; i < outputs.size(); i++) {
          DType type = compiled.program(input.rows()).network().outputs().get(i).dtype();
          report.verified(right.compare(i, results.get(i), type, files.get(outputs.get(i))));
        }
        if (picture != null) {
          report.pictured(
              PictureQuality.of(
                  results.getFirst(), picture, Objects.requireNonNull(request.output().beside())));
        }
        time(report, executable, request.seconds(), device);
        request.output().write(files, results, input.leading(), outputs);
        return report.report(executable);
      }
    }
  }

  /**
   * Measures for the given time. The last round counts: the JVM compiles a kernel to machine code
   * only after it has run for a while, and on busy cores that may take long, so rounds go on until
   * they agree, and are near what is predicted, if time was given for that.
   */
  private static void time(RunReport report, Executable executable, double seconds, Device device) {
    boolean jvm = device instanceof CpuDevice;
    SteadyTime steady = new SteadyTime();
    double most = jvm && seconds >= PATIENT ? LONGER * seconds : seconds;
    long start = System.nanoTime();
    Executable.Timing timing;
    double elapsed;
    boolean settled;
    int runs = 1;
    do {
      timing = executable.time(runs);
      steady.add(timing.totalUs());
      runs = !jvm ? ROUND : timing.totalUs() * runs < ROUND_US ? 2 * runs : runs;
      elapsed = (System.nanoTime() - start) / 1e9;
      settled = !jvm || steady.reached() && !report.isInterpreted(timing.totalUs());
    } while (elapsed < seconds || (!settled && elapsed < most));
    report.timed(timing, settled);
  }
}
