package dev.warpwright.extending;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Device;
import dev.warpwright.compiler.SimulatedDevice;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.export.CudaExport;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The promise of {@code docs/extending/activation.md}: a row of {@link Activation} is all there is
 * to an activation. Every row goes the whole way here, and nothing here names one.
 */
final class ActivationRowsTest {
  private static final int WIDTH = 16;
  private static final int ROWS = 3;

  @TempDir Path folder;

  private static Epilogue epilogue(Activation activation) {
    return new Epilogue(1, 0, true, activation, false, false, true, true);
  }

  /** A file's network with the activation runs on the CPU and in the simulator. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void fromAFileToTheCpuAndTheSimulator(Activation activation) throws IOException {
    Path file = folder.resolve("weights.safetensors");
    Files.write(file, weights());
    Architecture architecture =
        Architecture.parse(
            String.format(Locale.ROOT, "mlp:%d,%d,%d:%s", WIDTH, WIDTH, WIDTH, activation.text()));
    Graph graph = Warpwright.load(file, architecture).graph();
    assertThat(graph.nodes())
        .anyMatch(node -> node instanceof Elementwise e && e.kind() == activation);
    assertThat(NetworkCompiler.products(graph, Precision.BF16, ROWS).getFirst().epilogue())
        .as("the layer's GEMM")
        .isEqualTo(new Epilogue(1, 0, true, activation));

    float[] x = new float[ROWS * WIDTH];
    double[] same = new double[x.length];
    Random random = new Random(3);
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
      same[i] = x[i];
    }
    double[] expected = GraphEvaluator.evaluate(graph, ROWS, List.of(same)).getFirst();
    for (Device device : List.of(new CpuDevice(), new SimulatedDevice(GpuTarget.SM_80))) {
      try (device;
          CompiledModel model =
              Warpwright.load(file, architecture).compile(device, Precision.F32)) {
        float[] y = model.run(x);
        for (int i = 0; i < y.length; i++) {
          assertThat((double) y[i]).as(device.name()).isCloseTo(expected[i], within(1e-4));
        }
      }
    }
  }

  /** In f64 the expression is its meaning in double precision, but for roundings. */
  @ParameterizedTest
  @EnumSource
  void theExpressionMeansWhatTheRowSays(Activation activation) {
    int points = 2001;
    GemmWorkload gemm =
        new GemmWorkload(
            points,
            1,
            1,
            DType.F64,
            DType.F64,
            GemmWorkload.Layout.NT,
            new Epilogue(1, 0, false, activation));
    PrimFunc func = gemm.func();
    Arguments arguments = Arguments.random(func.params(), 5);
    arguments.get("B").fill(1);
    NdArray a = arguments.get("A");
    for (int i = 0; i < points; i++) {
      a.setElement(i, (i - points / 2) / 32.0);
    }
    Interpreter.run(func, arguments);
    for (int i = 0; i < points; i++) {
      double expected = activation.at(a.element(i));
      assertThat(arguments.get("C").element(i))
          .as("of %s", a.element(i))
          .isCloseTo(expected, within(1e-12 * Math.max(1, Math.abs(expected))));
    }
  }

  /** As an epilogue it is CUDA, means the same in the simulator, and is checked where exported. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void asAnEpilogueOfAGemm(Activation activation) {
    GemmWorkload workload =
        new GemmWorkload(
            9, 17, 5, DType.BF16, DType.F32, GemmWorkload.Layout.NT, epilogue(activation));
    assertThat(Epilogue.parse(workload.epilogue().text())).isEqualTo(workload.epilogue());
    ScheduledGemm gemm = PlainGemm.schedule(workload, 4, 16);
    Arguments expected = Arguments.random(gemm.func().params(), 7);
    Interpreter.run(gemm.func(), expected);
    Arguments arguments = Arguments.random(gemm.kernel().params(), 7);
    arguments.get("C").poison();
    new GridInterpreter(gemm.kernel(), GridOptions.DEFAULT).run(arguments);
    assertThat(arguments.get("C").sameBits(expected.get("C"))).isTrue();
    assertThat(CudaPrinter.print(gemm.kernel(), GpuTarget.SM_80)).contains("__global__");
    Map<String, byte[]> files =
        CudaExport.kernel(gemm.kernel(), GpuTarget.SM_80, "A GEMM", gemm.trace());
    assertThat(files.values().stream().map(f -> new String(f, StandardCharsets.UTF_8)))
        .as("the C++ program's check")
        .anyMatch(text -> text.contains(activation.cpp() + " * value("));
    assertThat(files.values().stream().map(f -> new String(f, StandardCharsets.UTF_8)))
        .as("the PyTorch extension's check")
        .anyMatch(
            text ->
                text.contains(
                    activation.torch("").substring(0, activation.torch("").indexOf('('))));
  }

  /** What exported programs compute in C++ is the meaning in double precision. */
  @Test
  void theTextInCppMeansWhatTheRowsSay() throws Exception {
    StringBuilder program = new StringBuilder("#include <algorithm>\n#include <cmath>\n");
    program.append("#include <cstdio>\nint main() {\n  for (int i = -300; i <= 300; ++i) {\n");
    program.append("    const double x = i / 16.0;\n");
    for (Activation activation : Activation.values()) {
      program
          .append("    std::printf(\"%.17g\\n\", 1.0 * ")
          .append(activation.cpp())
          .append(");\n");
    }
    program.append("  }\n}\n");
    Files.writeString(folder.resolve("rows.cpp"), program);
    assumeTrue(run("g++", "--version") != null, "g++ is not installed");
    assertThat(run("g++", "-std=c++17", "-o", "rows", "rows.cpp")).isEmpty();
    List<String> lines =
        Objects.requireNonNull(run(folder.resolve("rows").toString())).lines().toList();
    List<Double> expected = new ArrayList<>();
    for (int i = -300; i <= 300; i++) {
      for (Activation activation : Activation.values()) {
        expected.add(activation.at(i / 16.0));
      }
    }
    assertThat(lines).hasSameSizeAs(expected);
    for (int i = 0; i < lines.size(); i++) {
      assertThat(Double.parseDouble(lines.get(i)))
          .as("line %d", i)
          .isCloseTo(expected.get(i), within(1e-13 * Math.max(1, Math.abs(expected.get(i)))));
    }
  }

  /** The page names files that there are. */
  @Test
  void thePageSaysTheSteps() throws IOException {
    Path root = Path.of("..");
    String page = Files.readString(root.resolve("docs/extending/activation.md"));
    Matcher link = Pattern.compile("\\]\\(\\.\\./\\.\\./([^)#]+)\\)").matcher(page);
    List<String> files = link.results().map(m -> m.group(1)).toList();
    assertThat(files)
        .contains("workload/src/main/java/dev/warpwright/workload/Activation.java")
        .allMatch(file -> Files.exists(root.resolve(file)));
  }

  private @Nullable String run(String... command) throws Exception {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(output).isZero();
      return output;
    } catch (IOException e) {
      return null;
    }
  }

  /** Two layers of random weights in f32. */
  private static byte[] weights() {
    int matrix = 4 * WIDTH * WIDTH;
    int layer = matrix + 4 * WIDTH;
    StringBuilder header = new StringBuilder("{");
    for (int i = 0; i < 2; i++) {
      header.append(
          String.format(
              Locale.ROOT,
              "%s\"%d.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[%d,%d]},"
                  + "\"%d.bias\":{\"dtype\":\"F32\",\"shape\":[%d],\"data_offsets\":[%d,%d]}",
              i == 0 ? "" : ",",
              i,
              WIDTH,
              WIDTH,
              i * layer,
              i * layer + matrix,
              i,
              WIDTH,
              i * layer + matrix,
              (i + 1) * layer));
    }
    byte[] json = header.append('}').toString().getBytes(StandardCharsets.UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(8 + json.length + 2 * layer).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(json.length).put(json);
    Random random = new Random(1);
    while (file.hasRemaining()) {
      file.putFloat((float) (random.nextGaussian() / 4));
    }
    return file.array();
  }
}
