package dev.warpwright.model.arch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Offset.offset;

import dev.warpwright.base.UserError;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NetworkAssemblerTest {
  private static final String LINEAR = "{\"op\":\"linear\",\"weight\":\"w\"}";

  @TempDir Path folder;

  /** Weights w: [1, 1] = 1, two: [2, 1] = 1, and an integer; in this order in the file. */
  private Path weights() throws IOException {
    String header =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[1,1],\"data_offsets\":[0,4]},"
            + "\"two\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[4,12]},"
            + "\"half\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[12,14]},"
            + "\"n\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[14,18]},"
            + "\"slope\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[18,22]},"
            + "\"slopes\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[22,30]}}";
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(8 + text.length + 30).order(ByteOrder.LITTLE_ENDIAN);
    out.putLong(text.length).put(text).putFloat(1).putFloat(1).putFloat(1);
    out.putShort((short) 0).putInt(0).putFloat(0.5f).putFloat(0.5f).putFloat(1);
    return Files.write(folder.resolve("w.safetensors"), out.array());
  }

  private Graph load(String json) throws IOException {
    Path file = Files.writeString(folder.resolve("arch.json"), json);
    return ModelFile.load(weights(), new Architecture.Described(file));
  }

  private double apply(String ops, double x) throws IOException {
    Graph graph = load("{\"ops\":[" + LINEAR + "," + ops + "]}");
    return GraphEvaluator.evaluate(graph, 1, List.of(new double[] {x})).getFirst()[0];
  }

  @ParameterizedTest
  @CsvSource({
    "silu, 1.3, 1.0215854779553264",
    "silu, -100, -3.7200759760208361e-42",
    "softplus, 0.5, 0.97407698418010669",
    "softplus, 800, 800",
    "softplus, -3, 0.048587351573741958",
    "hardswish, 1, 0.66666666666666663",
    "hardswish, -4, 0",
    "hardswish, 9, 9",
    "hardsigmoid, 0, 0.5",
    "hardsigmoid, 4, 1",
    "relu, -1, 0",
    "cos, 0, 1",
    "neg, 3, -3",
    "mish, 1.3, 1.185976571527536",
    "mish, -2, -0.2525014826957089",
    "selu, 2, 2.101401974710961",
    "selu, -0.5, -0.6917581878028713",
    "elu, -0.5, -0.3934693402873666",
    "celu, -0.5, -0.3934693402873666",
    "leaky_relu, -2, -0.02",
    "leaky_relu, 3, 3",
    "gelu_tanh, 0, 0",
    "softmax, 5, 1",
    "log_softmax, 5, 0",
  })
  void computesActivations(String name, double x, double expected) throws IOException {
    // Constants are numbers of the weights' type, f32.
    assertThat(apply("{\"op\":\"" + name + "\"}", x))
        .isCloseTo(expected, offset(1e-7 * Math.abs(expected)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"op\":\"leaky_relu\",\"negative_slope\":0.25} | -2 | -0.5",
        "{\"op\":\"elu\",\"alpha\":2} | -1 | -1.2642411176571153",
        "{\"op\":\"celu\",\"alpha\":2} | -1 | -0.7869386805747332",
        "{\"op\":\"softplus\",\"beta\":2} | 0.5 | 0.6566308437591114",
        "{\"op\":\"softplus\",\"threshold\":1} | 0.5 | 0.9740769841801067",
        "{\"op\":\"softplus\",\"threshold\":1} | 1.5 | 1.5",
        "{\"op\":\"clip\",\"min\":-1} | -2 | -1",
        "{\"op\":\"clip\",\"max\":6} | 7 | 6",
        "{\"op\":\"clip\",\"min\":-1,\"max\":1} | 0.5 | 0.5",
        "{\"op\":\"prelu\",\"weight\":\"slope\"} | -2 | -1",
        "{\"op\":\"prelu\",\"weight\":\"slope\"} | 2 | 2",
      })
  void computesActivationsWithNumbers(String op, double x, double expected) throws IOException {
    assertThat(apply(op, x)).isCloseTo(expected, offset(1e-14));
  }

  /** From 17 on both branches are the same float: as in programs of torch.export, none is made. */
  @Test
  void aHighThresholdOfSoftplusMakesNoBranch() throws IOException {
    String softplus =
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"two\"},{\"op\":\"softplus\",\"threshold\":";
    int plain = load(softplus + "20}]}").nodes().size();
    assertThat(load(softplus + "17}]}").nodes()).hasSize(plain);
    assertThat(load(softplus + "16}]}").nodes().size()).isGreaterThan(plain);
  }

  @Test
  void softmaxIsOverTheFeaturesOfARow() throws IOException {
    for (String op : List.of("softmax", "log_softmax")) {
      Graph graph =
          load(
              "{\"ops\":[{\"op\":\"linear\",\"weight\":\"two\"},{\"op\":\"prelu\",\"weight\":"
                  + "\"slopes\"},{\"op\":\""
                  + op
                  + "\"}]}");
      double[] y = GraphEvaluator.evaluate(graph, 1, List.of(new double[] {-4})).getFirst();
      double first = 1 / (1 + Math.exp(-2));
      double[] expected = {first, 1 - first};
      for (int i = 0; i < 2; i++) {
        double wanted = op.equals("softmax") ? expected[i] : Math.log(expected[i]);
        assertThat(y[i]).isCloseTo(wanted, offset(1e-14));
      }
    }
  }

  @Test
  void combinesWithNumbersAndWithWhatWasSaved() throws IOException {
    assertThat(apply("{\"op\":\"mul\",\"value\":-2.5e0},{\"op\":\"add\",\"value\":1}", 2))
        .isEqualTo(-4);
    String ops =
        "{\"op\":\"save\",\"as\":\"x\"},{\"op\":\"exp\"},{\"op\":\"sub\",\"with\":\"x\"},"
            + "{\"op\":\"save\",\"as\":\"y\"},{\"op\":\"load\",\"from\":\"x\"},"
            + "{\"op\":\"div\",\"with\":\"y\"}";
    assertThat(apply(ops, 2)).isEqualTo(2 / (Math.exp(2) - 2));
  }

  @Test
  void aSavedValueMayBeTheOutput() throws IOException {
    String ops = "{\"op\":\"save\",\"as\":\"x\"},{\"op\":\"exp\"},{\"op\":\"load\",\"from\":\"x\"}";
    assertThat(apply(ops, 2)).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "[] | no description of a network",
        "{\"ops\":{}} | no description of a network",
        "{\"ops\":[],\"x\":1} | no description of a network",
        "{\"ops\":[]} | uses no weight",
        "{\"ops\":[1]} | operation 0 is a number instead of an object",
        "{\"ops\":[{}]} | operation 0: field \"op\" is missing",
        "{\"ops\":[{\"op\":1}]} | \"op\" is a number, not a string",
        "{\"ops\":[{\"op\":\"conv\"}]} | operation 0 (conv): unknown operation; supported: linear,",
        "{\"ops\":[{\"op\":\"clip\"}]} | (clip): give \"min\" or \"max\", or both",
        "{\"ops\":[{\"op\":\"celu\",\"alpha\":0}]} | \"alpha\" must not be 0",
        "{\"ops\":[{\"op\":\"softplus\",\"beta\":0}]} | \"beta\" must not be 0",
        "{\"ops\":[{\"op\":\"prelu\"}]} | field \"weight\" is missing",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"w\"},{\"op\":\"prelu\",\"weight\":\"two\"}]} |"
            + " [1] or [1] is needed",
        "{\"ops\":[{\"op\":\"relu\",\"slope\":1}]} | (relu): unknown field 'slope'",
        "{\"ops\":[{\"op\":\"linear\"}]} | field \"weight\" is missing",
        "{\"ops\":[{\"op\":\"mul\"}]} | give either \"value\" or \"with\"",
        "{\"ops\":[{\"op\":\"mul\",\"value\":1e999}]} | must be a finite number",
        "{\"ops\":[{\"op\":\"layer_norm\",\"eps\":-1}]} | must not be negative",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"v\"}]} | has no tensor 'v'; it has 'w', 'two'",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"n\"}]} | has type I32; supported: F32",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"w\",\"bias\":\"two\"}]} | [1] is needed",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"w\",\"bias\":\"half\"}]} | another type than",
        "{\"ops\":[{\"op\":\"linear\",\"weight\":\"half\"}]} | [outputs, 1] is needed",
        "{\"ops\":[{\"op\":\"load\",\"from\":\"x\"},{\"op\":\"linear\",\"weight\":\"w\"}]} | saved",
        "{\"ops\":[{\"op\":\"save\",\"as\":\"x\"},{\"op\":\"linear\",\"weight\":\"two\"},"
            + "{\"op\":\"add\",\"with\":\"x\"}]} | combines 2 features with the 1 of 'x'",
      })
  void refuses(String json, String why) {
    assertThatThrownBy(() -> load(json))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(why)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }

  @Test
  void refusesWhatIsNoJson() {
    for (String text : List.of("{\"ops\":[}", "{'ops':[]}", "{\"ops\":[],}", "{\"ops\":[01]}")) {
      assertThatThrownBy(() -> load(text))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("arch.json: malformed JSON at character ");
    }
  }
}
