package dev.warpwright.cli;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Reference;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.ir.UserError;
import dev.warpwright.model.function.Precision;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Value;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import dev.warpwright.sim.Verification;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Compiles a model, runs it, and verifies what came out. */
final class RunAction implements Action<RunRequest> {
  private static final int DEFAULT_ROWS = 64;

  /** Multiply-adds that the interpreter is given; beyond, it checks a random part of the rows. */
  private static final long REFERENCE_WORK = 150_000_000L;

  @Override
  public Report perform(RunRequest request, Progress progress) {
    Model model = Warpwright.load(request.model().file());
    Precision file = Precision.of(model.graph());
    Precision precision = request.model().precision() == null ? file : request.model().precision();
    if (model.graph().inputs().size() != 1 || model.graph().outputs().size() != 1) {
      throw new UserError(
          request.model().file() + ": run takes models of one input and one output, this has "
              + model.graph().inputs().size() + " and " + model.graph().outputs().size());
    }
    Input input = input(request, model.graph().inputs().getFirst());
    Expected expected = expected(request, model, input);
    try (Device device = Devices.open(request.model().target(), request.expect() != null, progress)) {
      try (CompiledModel compiled = model.compile(device, precision)) {
        return Devices.canRun(device)
            ? run(request, model, compiled, input, expected, Math.max(file.tolerance(), precision.tolerance()), progress)
            : CompileOnly.report(request.model(), compiled, input.rows(), progress);
      }
    }
  }

  /** Rows of features, and the shape in which they came. */
  private record Input(float[] values, int rows, List<Long> leading) {}

  /** What should come out; null when the interpreter has to tell. */
  private record Expected(double @Nullable [] values) {}

  private static Input input(RunRequest request, Value value) {
    int features = value.features();
    if (request.input() == null) {
      int rows = request.model().batch().orElse(fixedRows(value));
      Random random = new Random();
      float[] values = new float[Math.multiplyExact(rows, features)];
      for (int i = 0; i < values.length; i++) {
        values[i] = (float) random.nextGaussian();
      }
      return new Input(values, rows, List.of((long) rows));
    }
    NpyArray array = NpyFile.read(request.input());
    List<Long> shape = array.shape();
    if (shape.isEmpty() || shape.getLast() != features) {
      throw new UserError(
          request.input() + ": the input has the shape " + shape + ", the model takes " + value.typeText());
    }
    if (!array.type().isFloat()) {
      throw new UserError(
          request.input() + ": the input holds " + array.type().code() + ", the model takes floats; save it as float32");
    }
    float[] values = array.toFloats();
    int rows = values.length / features;
    List<Long> leading = shape.subList(0, shape.size() - 1);
    if (request.model().batch().isPresent()) {
      int wanted = request.model().batch().getAsInt();
      if (wanted > rows) {
        throw new UserError("--batch " + wanted + ": " + request.input() + " has only " + rows + " rows");
      }
      return new Input(Arrays.copyOf(values, wanted * features), wanted, List.of((long) wanted));
    }
    return new Input(values, rows, leading);
  }

  /** The rows that the file fixes, or a default. */
  private static int fixedRows(Value value) {
    long rows = 1;
    for (Dim dim : value.leading()) {
      if (!(dim instanceof Dim.Fixed(long size))) {
        return DEFAULT_ROWS;
      }
      rows *= size;
    }
    return Math.toIntExact(rows);
  }

  private static Expected expected(RunRequest request, Model model, Input input) {
    if (request.expect() == null) {
      return new Expected(null);
    }
    NpyArray array = NpyFile.read(request.expect());
    double[] values = array.toDoubles();
    int features = model.graph().outputs().getFirst().features();
    long wanted = (long) input.rows() * features;
    List<Long> shape = array.shape();
    if (shape.isEmpty() || shape.getLast() != features || values.length < wanted
        || (values.length > wanted && request.model().batch().isEmpty())) {
      throw new UserError(
          request.expect() + ": the expected output has the shape " + shape + ", "
              + input.rows() + " rows of " + features + " come out");
    }
    return new Expected(Arrays.copyOf(values, (int) wanted));
  }

  private static Report run(
      RunRequest request,
      Model model,
      CompiledModel compiled,
      Input input,
      Expected expected,
      double defaultTolerance,
      Progress progress) {
    int features = compiled.outputFeatures();
    float[] output = compiled.run(input.values());
    Verification verification = verify(model, input, expected, output, features, progress);
    double rtol = request.relative().orElse(defaultTolerance);
    Executable executable = compiled.executable(input.rows());
    executable.findings().forEach(progress::say);
    boolean accurate =
        request.absolute().isPresent()
            ? verification.within(rtol, request.absolute().getAsDouble())
            : verification.within(rtol);
    boolean verified = accurate && executable.findings().isEmpty();
    Executable.Timing timing = executable.time(input.rows() > 1 << 16 ? 5 : 20);
    if (request.out() != null) {
      write(request.out(), output, input, features);
    }
    CompiledProgram program = compiled.program(input.rows());
    return report(request, compiled, program, executable, timing, verification, verified, rtol, input.rows());
  }

  private static Verification verify(
      Model model, Input input, Expected expected, float[] output, int features, Progress progress) {
    if (expected.values() != null) {
      return Verification.compare(widen(output), expected.values());
    }
    Reference reference = new Reference(model.graph());
    long affordable = Math.max(1, REFERENCE_WORK / Math.max(1, reference.work()));
    int rows = input.rows();
    if (rows <= affordable) {
      return Verification.compare(
          widen(output), reference.outputs(rows, List.of(input.values())).getFirst());
    }
    int inputFeatures = input.values().length / rows;
    int checked = (int) affordable;
    progress.say("verifying " + checked + " random rows of " + rows + "; give --expect to verify all");
    int[] chosen = new Random().ints(0, rows).distinct().limit(checked).sorted().toArray();
    float[] x = new float[checked * inputFeatures];
    double[] y = new double[checked * features];
    for (int i = 0; i < checked; i++) {
      System.arraycopy(input.values(), chosen[i] * inputFeatures, x, i * inputFeatures, inputFeatures);
      for (int j = 0; j < features; j++) {
        y[i * features + j] = output[chosen[i] * features + j];
      }
    }
    return Verification.compare(y, reference.outputs(checked, List.of(x)).getFirst());
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    for (int i = 0; i < wide.length; i++) {
      wide[i] = values[i];
    }
    return wide;
  }

  private static void write(Path out, float[] output, Input input, int features) {
    List<Long> shape = new ArrayList<>(input.leading());
    shape.add((long) features);
    NpyFile.write(out, shape, output);
  }

  private static Report report(
      RunRequest request,
      CompiledModel compiled,
      CompiledProgram program,
      Executable executable,
      Executable.Timing timing,
      Verification verification,
      boolean verified,
      double rtol,
      int rows) {
    List<Executable.KernelFacts> facts = executable.kernelFacts();
    List<Json> kernels = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s on %s in %s, %d rows: %d kernel%s, %.1f us%n",
            OneLine.of(request.model().file().toString()),
            compiled.device().name(),
            compiled.precision().text(),
            rows,
            facts.size(),
            facts.size() == 1 ? "" : "s",
            timing.totalUs()));
    for (int i = 0; i < facts.size(); i++) {
      Executable.KernelFacts fact = facts.get(i);
      CompiledKernel kernel = program.kernels().get(i);
      double micros = timing.kernelUs().get(i);
      kernels.add(
          Json.object()
              .with("name", fact.name())
              .with("strategy", kernel.strategy())
              .with("ops", Json.array(kernel.stages(), Json::of))
              .with("grid", Json.array(fact.grid(), Json::of))
              .with("block", Json.array(fact.block(), b -> Json.of((long) b)))
              .with("sharedBytes", fact.sharedBytes())
              .with("registers", fact.registers())
              .with("timeUs", micros));
      text.append(
          String.format(
              Locale.ROOT,
              "  %-12s %10.1f us  %s, %d stages%n",
              fact.name(),
              micros,
              kernel.strategy(),
              kernel.stages().size()));
    }
    text.append(
        String.format(
            Locale.ROOT,
            "%s: relative error %.2e (at most %.0e), largest absolute error %.2e",
            verified ? "verified" : "WRONG",
            verification.relError(),
            rtol,
            verification.maxAbsError()));
    Json json =
        Json.object()
            .with("model", request.model().file().toString())
            .with("target", compiled.device().target().name())
            .with("device", compiled.device().name())
            .with("precision", compiled.precision().text())
            .with("rows", rows)
            .with("kernels", new Json.Array(kernels))
            .with("timeUs", timing.totalUs())
            .with("maxAbsError", verification.maxAbsError())
            .with("relError", verification.relError())
            .with("rtol", rtol)
            .with("verified", verified);
    return new Report(verified, text.toString(), json);
  }
}
