package dev.warpwright.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.arch.Architecture;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.npy.NpyArray;
import dev.warpwright.model.npy.NpyFile;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each model of the repository from its weights and its description, against its ONNX file. */
class WeightFilesTest {

  static Stream<Path> weightFiles() {
    return Repository.allModels().stream()
        .flatMap(folder -> Stream.of("model.safetensors", "state_dict.pth").map(folder::resolve));
  }

  private static Graph described(Path file) {
    return ModelFile.load(file, Architecture.parse(file.resolveSibling("arch.json").toString()));
  }

  @ParameterizedTest
  @MethodSource("weightFiles")
  void computesWhatTheOnnxFileComputes(Path file) {
    Graph graph = described(file);
    Graph onnx = ModelFile.load(file.resolveSibling("model.onnx"));
    assertThat(graph.inputs().getFirst().dtype()).isEqualTo(onnx.inputs().getFirst().dtype());
    double[] actual = evaluate(file, graph);
    assertThat(relativeError(actual, evaluate(file, onnx))).isLessThan(1e-12);
    double[] expected = NpyFile.read(file.resolveSibling("expected_f64.npy")).toDoubles();
    assertThat(relativeError(actual, expected)).isLessThan(1e-12);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "digits-relu-128-64 | mlp:64,128,64,10:relu",
        "digits-gelu-64x4 | mlp:64,64,64,64,64,10:gelu",
      })
  void findsTheLayersOfAnMlp(String model, String arch) {
    for (String name : List.of("model.safetensors", "state_dict.pth")) {
      Path file = Repository.model(model).resolve(name);
      double[] actual = evaluate(file, ModelFile.load(file, Architecture.parse(arch)));
      assertThat(relativeError(actual, evaluate(file, described(file)))).isZero();
    }
  }

  @Test
  void weightsNeedAnArchitecture() {
    weightFiles()
        .forEach(
            file ->
                assertThatThrownBy(() -> ModelFile.load(file))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("has weights and no graph; say what they are with"));
  }

  @Test
  void onnxNeedsNone() {
    Path file = Repository.model("digits-relu-128-64").resolve("model.onnx");
    assertThatThrownBy(() -> ModelFile.load(file, Architecture.parse("mlp:64,128,64,10:relu")))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith("an ONNX file has its architecture in it; leave --arch out");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "mlp:64,128,10:relu | 2 layers are given, but there are 3 matrices called *.weight",
        "mlp:64,128,65,10:relu | '2.weight' has shape [64, 128], but the widths need [65, 128]",
        "mlp:64,128,64,10:maxout | unknown activation 'maxout'; supported: relu, relu6, gelu",
      })
  void refusesWidthsAndActivationsThatDoNotFit(String arch, String why) {
    for (String name : List.of("model.safetensors", "state_dict.pth")) {
      Path file = Repository.model("digits-relu-128-64").resolve(name);
      assertThatThrownBy(() -> ModelFile.load(file, Architecture.parse(arch)))
          .isInstanceOf(UserError.class)
          .hasMessageContaining(why);
    }
  }

  private static double[] evaluate(Path file, Graph graph) {
    NpyArray input = NpyFile.read(file.resolveSibling("input.npy"));
    int rows = input.shape().getFirst().intValue();
    return GraphEvaluator.evaluate(graph, rows, List.of(input.toDoubles())).getFirst();
  }

  private static double relativeError(double[] actual, double[] expected) {
    assertThat(actual).hasSameSizeAs(expected);
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < expected.length; i++) {
      difference += Math.pow(actual[i] - expected[i], 2);
      norm += expected[i] * expected[i];
    }
    return Math.sqrt(difference / norm);
  }
}
