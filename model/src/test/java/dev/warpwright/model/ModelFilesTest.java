package dev.warpwright.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import dev.warpwright.workload.Activation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each model of the repository, from both exporters, against what PyTorch computed in float64. */
class ModelFilesTest {

  static Stream<Path> onnxFiles() {
    return Repository.allModels().stream()
        .flatMap(folder -> Stream.of("model.onnx", "model_ts.onnx").map(folder::resolve))
        .filter(Files::exists);
  }

  @Test
  void everyModelIsThere() {
    assertThat(Repository.allModels()).hasSize(7);
    assertThat(onnxFiles()).hasSize(13);
  }

  @ParameterizedTest
  @MethodSource("onnxFiles")
  void agreesWithPyTorchInDoublePrecision(Path file) {
    // the graph of the file may have √2 rounded to single precision; the simplified one has not
    assertThat(relativeError(file, ModelFile.importGraph(file))).isLessThan(1e-7);
    assertThat(relativeError(file, ModelFile.load(file))).isLessThan(1e-12);
  }

  @ParameterizedTest
  @MethodSource("onnxFiles")
  void bothExportersGiveTheSameGraph(Path file) {
    Graph graph = ModelFile.load(file);
    Graph other = ModelFile.load(file.resolveSibling("model.onnx"));
    assertThat(ops(graph)).isEqualTo(ops(other));
  }

  @Test
  void graphsAreAsSmallAsTheNetworks() {
    assertThat(ops(load("digits-gelu-64x4")))
        .containsExactly(
            "linear", "gelu", "linear", "gelu", "linear", "gelu", "linear", "gelu", "linear");
    assertThat(ops(load("ffn-gelu-residual-128")))
        .containsExactly("layer_norm", "linear", "gelu", "linear", "add");
    assertThat(ops(load("ffn-swiglu-128-352-bf16")))
        .containsExactly("linear", "silu", "linear", "mul", "linear");
    assertThat(load("ffn-swiglu-128-352-bf16").inputs().getFirst().dtype()).isEqualTo(DType.BF16);
    Node norm = load("ffn-gelu-residual-128").nodes().getFirst();
    assertThat(((LayerNorm) norm).epsilon()).isEqualTo((double) 1e-5f);
    Linear out = (Linear) load("image-siren-64x4").nodes().get(12);
    assertThat(out.weight().shape()).containsExactly(3L, 64L);
    assertThat(out.bias()).isNotNull();
    Elementwise last = (Elementwise) load("image-siren-64x4").nodes().getLast();
    assertThat(last.kind()).isEqualTo(Activation.SIGMOID);
  }

  @ParameterizedTest
  @MethodSource("onnxFiles")
  void reachesTheAccuracyOfItsInfo(Path file) throws Exception {
    String name = file.getParent().getFileName().toString();
    if (name.startsWith("digits")) {
      assertThat(accuracy(file, 10)).isEqualTo(info(file, "test_accuracy"), within(1e-6));
    } else if (name.startsWith("tabular")) {
      assertThat(accuracy(file, 1)).isEqualTo(info(file, "accuracy"), within(1e-6));
    } else if (name.startsWith("image")) {
      assertThat(psnr(file)).isEqualTo(info(file, "psnr_db"), within(1e-4));
    }
  }

  private static Graph load(String model) {
    return ModelFile.load(Repository.model(model).resolve("model.onnx"));
  }

  private static List<String> ops(Graph graph) {
    return graph.nodes().stream().map(Node::op).toList();
  }

  private static double[] evaluate(Path file, Graph graph) {
    NpyArray input = NpyFile.read(file.resolveSibling("input.npy"));
    int rows = input.shape().getFirst().intValue();
    return GraphEvaluator.evaluate(graph, rows, List.of(input.toDoubles())).getFirst();
  }

  private static double relativeError(Path file, Graph graph) {
    double[] actual = evaluate(file, graph);
    double[] expected = NpyFile.read(file.resolveSibling("expected_f64.npy")).toDoubles();
    assertThat(actual).hasSameSizeAs(expected);
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < expected.length; i++) {
      difference += Math.pow(actual[i] - expected[i], 2);
      norm += expected[i] * expected[i];
    }
    return Math.sqrt(difference / norm);
  }

  /** The part of rows with the right class: the largest output, or for one output its rounding. */
  private static double accuracy(Path file, int classes) {
    double[] y = evaluate(file, ModelFile.load(file));
    double[] labels = NpyFile.read(file.resolveSibling("labels.npy")).toDoubles();
    int right = 0;
    for (int m = 0; m < labels.length; m++) {
      int best = 0;
      for (int c = 1; c < classes; c++) {
        best = y[m * classes + c] > y[m * classes + best] ? c : best;
      }
      double predicted = classes == 1 ? Math.rint(y[m]) : best;
      right += predicted == labels[m] ? 1 : 0;
    }
    return (double) right / labels.length;
  }

  private static double psnr(Path file) {
    double[] y = evaluate(file, ModelFile.load(file));
    double[] target = NpyFile.read(file.resolveSibling("target.npy")).toDoubles();
    double sum = 0;
    for (int i = 0; i < y.length; i++) {
      sum += Math.pow(y[i] - target[i], 2);
    }
    return -10 * Math.log10(sum / y.length);
  }

  private static double info(Path file, String key) throws Exception {
    String text = Files.readString(file.resolveSibling("info.json"));
    Matcher matcher = Pattern.compile("\"" + key + "\": ([0-9.]+)").matcher(text);
    assertThat(matcher.find()).as("%s in info.json", key).isTrue();
    return Double.parseDouble(matcher.group(1));
  }
}
