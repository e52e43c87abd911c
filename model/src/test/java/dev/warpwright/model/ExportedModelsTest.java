package dev.warpwright.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each model of the repository as torch.export saved it. */
class ExportedModelsTest {

  static Stream<Path> exported() {
    return Repository.allModels().stream().map(folder -> folder.resolve("model.pt2"));
  }

  @ParameterizedTest
  @MethodSource("exported")
  void agreesWithPyTorchInDoublePrecision(Path file) {
    NpyArray input = NpyFile.read(file.resolveSibling("input.npy"));
    int rows = input.shape().getFirst().intValue();
    double[] expected = NpyFile.read(file.resolveSibling("expected_f64.npy")).toDoubles();
    double[] actual =
        GraphEvaluator.evaluate(ModelFile.load(file), rows, List.of(input.toDoubles())).getFirst();
    assertThat(actual).hasSameSizeAs(expected);
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < expected.length; i++) {
      difference += Math.pow(actual[i] - expected[i], 2);
      norm += expected[i] * expected[i];
    }
    assertThat(Math.sqrt(difference / norm)).isLessThan(1e-12);
  }

  @ParameterizedTest
  @MethodSource("exported")
  void givesTheGraphOfTheOnnxFile(Path file) {
    Graph graph = ModelFile.load(file);
    Graph onnx = ModelFile.load(file.resolveSibling("model.onnx"));
    assertThat(graph.nodes().stream().map(Node::op))
        .isEqualTo(onnx.nodes().stream().map(Node::op).toList());
    assertThat(graph.inputs().getFirst().typeText()).matches("(bf16|f32)\\[s\\d+, \\d+]");
    assertThat(graph.inputs().getFirst().dtype()).isEqualTo(onnx.inputs().getFirst().dtype());
  }

  @Test
  void needsNoArchitecture() {
    Path file = Repository.model("digits-relu-128-64").resolve("model.pt2");
    assertThatThrownBy(() -> ModelFile.load(file, Architecture.parse("mlp:64,128,64,10:relu")))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith("an exported program has its architecture in it; leave --arch out");
  }
}
