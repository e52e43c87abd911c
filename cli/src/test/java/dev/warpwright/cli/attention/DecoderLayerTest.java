package dev.warpwright.cli.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.hostile.OnnxWriter;
import dev.warpwright.compiler.CompiledModel;
import dev.warpwright.compiler.CpuDevice;
import dev.warpwright.compiler.Warpwright;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.graph.Attend;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A decoder layer from its file to its results on the CPU. */
class DecoderLayerTest {
  private static final long SEED = Long.getLong("seed", 17);
  private static final int ROWS = 3;

  @TempDir private Path folder;
  private String out = "";

  private Path file(byte[] onnx) throws IOException {
    return Files.write(folder.resolve("layer.onnx"), onnx);
  }

  private int execute(String line) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int code = Main.execute(stream, stream, line.strip().split(" +"));
    out = bytes.toString(StandardCharsets.UTF_8);
    return code;
  }

  private static void assertRight(
      DecoderLayer layer, List<float[]> inputs, List<double[]> outputs, double tolerance) {
    for (int row = 0; row < ROWS; row++) {
      List<double[]> expected = layer.expected(inputs, row);
      for (int o = 0; o < outputs.size(); o++) {
        double[] right = expected.get(o);
        for (int i = 0; i < right.length; i++) {
          assertThat(outputs.get(o)[row * right.length + i])
              .as("output %d, row %d, column %d, seed %d", o, row, i, SEED)
              .isCloseTo(right[i], within(tolerance));
        }
      }
    }
  }

  private static double[] doubles(float[] values) {
    return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
  }

  /** With few keys in the cache, and so many that appending to it is no product with ones. */
  @ParameterizedTest
  @CsvSource({"5, false", "5, true", "70, false"})
  void isWhatItsLoopsCompute(int past, boolean operator) throws IOException {
    DecoderLayer layer = new DecoderLayer(past, SEED);
    Path path = file(layer.onnx(operator));
    Graph graph = ModelFile.load(path);
    assertThat(graph.nodes().stream().filter(Attend.class::isInstance)).hasSize(1);
    List<float[]> inputs = layer.inputs(ROWS, SEED + 1);
    assertRight(
        layer,
        inputs,
        GraphEvaluator.evaluate(
            graph, ROWS, inputs.stream().map(DecoderLayerTest::doubles).toList()),
        1e-6);
    try (CpuDevice cpu = new CpuDevice();
        CompiledModel model = Warpwright.load(path).compile(cpu)) {
      List<float[]> results = new ArrayList<>();
      for (var output : graph.outputs()) {
        float[] poisoned = new float[ROWS * output.features()];
        Arrays.fill(poisoned, Float.NaN);
        results.add(poisoned);
      }
      model.run(ROWS, inputs, results);
      assertRight(layer, inputs, results.stream().map(DecoderLayerTest::doubles).toList(), 1e-4);
    }
  }

  @Test
  void isRunVerifiedAndPlanned() throws IOException {
    Path path = file(new DecoderLayer(5, SEED).onnx(true));
    assertThat(execute("run " + path + " --target cpu --batch 5 --seed 3"))
        .as(out)
        .isEqualTo(ExitCode.OK);
    assertThat(execute("plan " + path + " --target cpu")).as(out).isEqualTo(ExitCode.OK);
    assertThat(out).contains("attention_scores");
    assertThat(execute("plan " + path + " --target sm_90a --batch 3")).isEqualTo(ExitCode.USAGE);
    assertThat(out.strip())
        .contains("attention within networks in f32 has no kernel for GPUs; use f16 or bf16")
        .doesNotContain("\n");
  }

  /** GEMMs and attention as launches one after the other. */
  @Test
  void isRunByKernelsForGpus() throws IOException {
    Path path = file(new DecoderLayer(5, SEED).onnx(true));
    assertThat(execute("run " + path + " --target sim --precision f16 --batch 3 --seed 3 --json"))
        .as(out)
        .isEqualTo(ExitCode.OK);
    assertThat(out)
        .contains("_attention0", "\"strategy\": \"attention, overlapping launch\"")
        .contains("verified");
  }

  /** What is not covered is refused with the node's name, or its result's. */
  @Test
  void otherAttentionIsRefused() throws IOException {
    OnnxWriter tokens =
        new OnnxWriter()
            .input("q", "N", 2L, 3L, 8L)
            .input("k", "N", 2L, 4L, 8L)
            .node("Attention", List.of("q", "k", "k"), List.of("y"))
            .output("y", "N", 2L, 3L, 8L);
    assertThat(execute("run " + file(tokens.bytes()) + " --target cpu")).isEqualTo(ExitCode.USAGE);
    assertThat(out.strip())
        .contains("node #0 (Attention)", "attention of 3 tokens at a time")
        .doesNotContain("\n");
    OnnxWriter causal =
        new OnnxWriter()
            .input("q", "N", 2L, 1L, 8L)
            .input("k", "N", 2L, 4L, 8L)
            .node(
                "Attention",
                List.of("q", "k", "k"),
                List.of("y"),
                OnnxWriter.attribute("is_causal", 1L))
            .output("y", "N", 2L, 1L, 8L);
    assertThat(execute("run " + file(causal.bytes()) + " --target cpu")).isEqualTo(ExitCode.USAGE);
    assertThat(out.strip()).contains("would see the first alone").doesNotContain("\n");
    OnnxWriter masked =
        new OnnxWriter()
            .input("q", "N", 2L, 1L, 8L)
            .input("k", "N", 2L, 4L, 8L)
            .input("m", "N", 1L, 1L, 4L)
            .node("Attention", List.of("q", "k", "k", "m"), List.of("y"))
            .output("y", "N", 2L, 1L, 8L);
    assertThat(execute("run " + file(masked.bytes()) + " --target cpu")).isEqualTo(ExitCode.USAGE);
    assertThat(out.strip())
        .contains("node #0 (Attention)", "a mask is not supported")
        .doesNotContain("\n");
  }
}
