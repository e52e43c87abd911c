package dev.warpwright.cli.run;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.files.AtomicFile;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.devices.Devices;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.model.graph.Value;
import dev.warpwright.parallel.cost.ParallelPlan;
import dev.warpwright.parallel.cost.ParallelRequest;
import dev.warpwright.parallel.gpu.GpuGroup;
import dev.warpwright.parallel.gpu.ParallelExecutable;
import dev.warpwright.parallel.program.ParallelCompiler;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.parallel.program.ParallelSimulation;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.workload.Precision;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Runs a model on several GPUs of a host, or in the simulator, and verifies what came out. */
final class ParallelRun {
  /** The median of so many is told. */
  private static final int BURSTS = 9;

  /** Runs that are timed together. */
  private static final int RUNS = 10;

  private final RunRequest request;
  private final ParallelRequest gpus;
  private final Progress progress;

  private ParallelRun(RunRequest request, ParallelRequest gpus, Progress progress) {
    this.request = request;
    this.gpus = gpus;
    this.progress = progress;
  }

  static Report report(
      RunRequest request,
      ParallelRequest gpus,
      Model model,
      Precision precision,
      Progress progress) {
    return new ParallelRun(request, gpus, progress).report(model, precision);
  }

  private Report report(Model model, Precision precision) {
    if (request.output().beside() != null) {
      throw new UserError("--beside: for one device; leave out --gpus");
    }
    List<Value> outputs = model.graph().outputs();
    RunInput input = RunInput.of(request, model.graph().inputs(), outputs, progress);
    Map<Value, double[]> expected = input.expected(request, outputs);
    Map<Value, Path> files = request.output().check(input.rows(), outputs);
    try (Device device = Devices.open(request.model().target(), false, progress)) {
      ParallelPlan plan = gpus.plan(model.graph(), device, precision, input.rows());
      ParallelProgram parallel = plan.program();
      emit(request.model().emit(), parallel, progress);
      CompletableFuture<Expectation> reference =
          Expectation.begin(model, precision, input, expected, request.seed(), progress);
      Ran ran = run(device, model, precision, parallel, input);
      ran.findings().forEach(finding -> progress.say(finding.message()));
      Expectation right = Expectation.end(reference);
      List<VerifiedOutput> verified = new ArrayList<>();
      for (int i = 0; i < outputs.size(); i++) {
        verified.add(
            right.compare(
                i,
                ran.outputs().get(i),
                parallel.outputs().get(i).dtype(),
                files.get(outputs.get(i))));
      }
      request.output().write(files, ran.outputs(), input.leading(), outputs);
      return report(device, plan, parallel, ran, verified);
    }
  }

  /**
   * What a run gave.
   *
   * @param micros that it took on GPUs; NaN in the simulator
   * @param oneMicros that one of the GPUs took, measured in the same way
   */
  private record Ran(
      List<float[]> outputs, List<Finding> findings, double micros, double oneMicros) {}

  private Ran run(
      Device device, Model model, Precision precision, ParallelProgram parallel, RunInput input) {
    if (device instanceof SimulatedDevice) {
      ParallelSimulation.Result result = new ParallelSimulation(parallel).run(input.values());
      return new Ran(result.outputs(), result.findings(), Double.NaN, Double.NaN);
    }
    if (device instanceof GpuDevice) {
      int bursts = request.seconds() > 0 ? BURSTS : 1;
      int runs = request.seconds() > 0 ? RUNS : 1;
      ParallelProgram alone =
          new ParallelCompiler(model.graph(), device, precision, parallel.devices())
              .one(parallel.rows());
      List<float[]> outputs;
      double micros;
      double one;
      try (GpuGroup group = GpuGroup.open(parallel.target(), parallel.devices(), parallel.sums());
          ParallelExecutable all = new ParallelExecutable(parallel, group)) {
        outputs = all.run(input.values());
        micros = all.time(bursts, runs);
      }
      try (GpuGroup first = GpuGroup.open(parallel.target(), 1, false);
          ParallelExecutable executable = new ParallelExecutable(alone, first)) {
        executable.run(input.values());
        one = executable.time(bursts, runs);
      }
      return new Ran(outputs, List.of(), micros, one);
    }
    throw new DeviceError(
        "no "
            + parallel.devices()
            + " GPUs here run "
            + device.target().name()
            + "; use --target sim, or plan");
  }

  private Report report(
      Device device,
      ParallelPlan plan,
      ParallelProgram parallel,
      Ran ran,
      List<VerifiedOutput> verified) {
    double usual = parallel.precision().tolerance();
    double tolerance = request.relative().orElse(usual);
    double widened = Math.max(1, tolerance / usual);
    boolean clean = ran.findings().isEmpty();
    boolean ok = clean && verified.stream().allMatch(v -> v.isRight(request, tolerance, widened));
    ParallelPlan.Estimate expected =
        plan.estimates().stream().filter(e -> e.program() == parallel).findFirst().orElseThrow();
    double one = plan.estimates().getFirst().totalUs();
    StringBuilder text =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s on %d x %s in %s, %d rows: %s, %d kernel%s, %d sum%s over devices, %s%.1f us"
                    + " expected (one GPU %.1f)",
                OneLine.of(request.model().title()),
                parallel.devices(),
                device.name(),
                parallel.precision().text(),
                parallel.rows(),
                expected.name(),
                parallel.program().kernels().size(),
                parallel.program().kernels().size() == 1 ? "" : "s",
                expected.sums(),
                expected.sums() == 1 ? "" : "s",
                Double.isNaN(ran.micros())
                    ? "on real ones "
                    : String.format(
                        Locale.ROOT,
                        "%.1f us, %.3f of one GPU's %.1f; ",
                        ran.micros(),
                        ran.micros() / ran.oneMicros(),
                        ran.oneMicros()),
                expected.totalUs(),
                one));
    for (VerifiedOutput each : verified) {
      text.append(System.lineSeparator())
          .append(
              each.verdict(
                  clean && each.isRight(request, tolerance, widened),
                  tolerance,
                  widened,
                  verified.size() > 1));
    }
    Json json =
        Json.object()
            .with("model", request.model().title())
            .with("target", device.target().name())
            .with("device", device.name())
            .with("gpus", parallel.devices())
            .with("precision", parallel.precision().text())
            .with("rows", parallel.rows())
            .with("way", expected.name())
            .with("parts", parallel.parts())
            .with("sums", expected.sums())
            .with("timeUs", ran.micros())
            .with("oneGpuUs", ran.oneMicros())
            .with("ratio", ran.micros() / ran.oneMicros())
            .with("expectedUs", expected.totalUs())
            .with("oneGpuExpectedUs", one)
            .with("kernels", Json.array(parallel.program().kernels(), k -> Json.of(k.name())))
            .with("relError", worst(verified))
            .with("rtol", tolerance)
            .with(
                "outputs",
                Json.array(
                    verified,
                    v -> v.json(clean && v.isRight(request, tolerance, widened), widened)))
            .with("findings", Json.array(ran.findings(), f -> Json.of(f.message())))
            .with("verified", ok);
    return new Report(ok, text.toString(), json);
  }

  private static double worst(List<VerifiedOutput> verified) {
    return verified.stream().mapToDouble(v -> v.result().relError()).max().orElse(0);
  }

  /** Writes {@code 4-program.ir}, and {@code 5-kernels.cu}, as for one GPU. */
  static void emit(@Nullable Path folder, ParallelProgram parallel, Progress progress) {
    if (folder == null) {
      return;
    }
    Program program = parallel.program();
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put("4-program.ir", IrPrinter.text(program).getBytes(StandardCharsets.UTF_8));
    files.put(
        "5-kernels.cu",
        CudaPrinter.print(program, parallel.target()).getBytes(StandardCharsets.UTF_8));
    AtomicFile.writeAll(folder, files);
    progress.say("wrote to " + folder + ": 4-program.ir, 5-kernels.cu");
  }
}
