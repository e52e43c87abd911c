package dev.warpwright.bench;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Model;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.model.npy.NpyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Networks as workloads. */
final class Networks {
  /** The public models; one in bf16 meets its f32 twin. */
  static final List<String> PUBLIC =
      List.of(
          "digits-relu-128-64",
          "digits-gelu-64x4",
          "tabular-tanh-sigmoid",
          "image-siren-64x4",
          "ffn-gelu-residual-128",
          "ffn-swiglu-128-352",
          "ffn-swiglu-128-352-bf16");

  private static final String BF16 = "-bf16";
  private static final int MLP_WIDTH = 4096;
  private static final int MLP_LAYERS = 2;

  private final CpuDevice device;
  private final int threads;

  Networks(CpuDevice device, int threads) {
    this.device = device;
    this.threads = threads;
  }

  /** A public model with its own input's rows, repeated as often as it takes. */
  Workload model(Path models, String name, int rows) {
    boolean bf16 = name.endsWith(BF16);
    String twin = bf16 ? name.substring(0, name.length() - BF16.length()) : name;
    try {
      Model model = Warpwright.load(models.resolve(name).resolve("model.onnx"));
      float[] given = NpyFile.read(models.resolve(name).resolve("input.npy")).toFloats();
      int features = model.graph().inputs().getFirst().features();
      float[] input = new float[rows * features];
      for (int i = 0; i < input.length; i++) {
        input[i] = given[i % given.length];
      }
      Path baseline = models.resolve(twin).resolve("model.onnx");
      double[] reference = reference(model, input, rows);
      // The twin has other weights, so other results.
      double[] baselineReference =
          bf16 ? reference(Warpwright.load(baseline), input, rows) : reference;
      int outputs = reference.length / rows;
      return new Workload(
          "networks",
          name + ", batch " + rows,
          0,
          List.of(
              ours(
                  model, input, rows, reference, bf16 ? 2e-2 : Implementation.F32_TOLERANCE, false),
              new OnnxBaseline(
                      Files.readAllBytes(baseline),
                      threads,
                      List.of(new OnnxBaseline.Matrix(input, rows, features)),
                      rows,
                      outputs)
                  .implementation(baselineReference)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + name, e);
    }
  }

  private static double[] reference(Model model, float[] input, int rows) {
    return new Reference(model.graph()).outputs(rows, List.of(input)).getFirst();
  }

  /** Random weights, with ReLU between the layers. */
  Workload mlp(int rows) {
    RandomMlp mlp = RandomMlp.of(MLP_LAYERS, MLP_WIDTH);
    float[] input = Products.random(rows * MLP_WIDTH, 1, 1);
    double[] reference = mlp.outputs(input, rows);
    OnnxBaseline baseline =
        new OnnxBaseline(
            mlp.onnx(),
            threads,
            List.of(new OnnxBaseline.Matrix(input, rows, MLP_WIDTH)),
            rows,
            MLP_WIDTH);
    return new Workload(
        "networks",
        "MLP 4096-4096-4096, batch " + rows,
        2L * rows * MLP_LAYERS * MLP_WIDTH * MLP_WIDTH,
        List.of(
            ours(mlp.model(), input, rows, reference, Implementation.F32_TOLERANCE, false),
            baseline.implementation(reference)));
  }

  /** A public model alone, prepared if asked for. */
  Implementation ownModel(Path models, String name, int rows, boolean prepared) {
    Model model = Warpwright.load(models.resolve(name).resolve("model.onnx"));
    int features = model.graph().inputs().getFirst().features();
    int outputs = model.graph().outputs().getFirst().features();
    float[] input = Products.random(rows * features, 1, 1);
    return ours(model, input, rows, new double[rows * outputs], 0, prepared);
  }

  /** The wide network alone. */
  Implementation ownMlp(int rows, boolean prepared) {
    RandomMlp mlp = RandomMlp.of(MLP_LAYERS, MLP_WIDTH);
    float[] input = Products.random(rows * MLP_WIDTH, 1, 1);
    return ours(mlp.model(), input, rows, new double[rows * MLP_WIDTH], 0, prepared);
  }

  private Implementation ours(
      Model model,
      float[] input,
      int rows,
      double[] reference,
      double tolerance,
      boolean prepared) {
    CompiledModel compiled = model.compile(device);
    if (prepared) {
      compiled.prepare(rows);
    }
    float[] result = new float[reference.length];
    List<float[]> in = List.of(input);
    List<float[]> out = List.of(result);
    return new Implementation(
        "Warpwright",
        reference,
        tolerance,
        () -> compiled.run(rows, in, out),
        () -> result,
        () -> Arrays.fill(result, Float.NaN));
  }
}
