package dev.warpwright.model.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.model.ModelFile;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExternalDataTest {
  @TempDir Path outside;

  private Path folder;

  @BeforeEach
  void writeWeights() throws IOException {
    folder = Files.createDirectories(outside.resolve("model"));
    ByteBuffer weights = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 10; i++) {
      weights.putFloat(4 * i, i);
    }
    Files.write(folder.resolve("model.onnx.data"), weights.array());
    Files.createDirectories(folder.resolve("sub"));
    Files.write(folder.resolve("sub/w"), weights.array());
    Files.write(outside.resolve("secret"), weights.array());
  }

  /** y = x · w with w: [2, 3], whose data is elsewhere; keys and values in turn. */
  private Path model(String... fields) throws IOException {
    Message tensor =
        new Message().varint(1, 2).varint(1, 3).varint(2, OnnxBuilder.FLOAT).string(8, "w");
    for (int i = 0; i < fields.length; i += 2) {
      tensor.message(13, new Message().string(1, fields[i]).string(2, fields[i + 1]));
    }
    tensor.varint(14, 1);
    byte[] bytes =
        OnnxBuilder.withInput(2)
            .initializer(tensor)
            .node("MatMul", List.of("x", "w"), "y")
            .output("y", "batch", 3)
            .build();
    return Files.write(folder.resolve("m.onnx"), bytes);
  }

  private static double[] run(Path model) {
    Graph graph = ModelFile.load(model);
    return GraphEvaluator.evaluate(graph, 1, List.of(new double[] {1, 10})).getFirst();
  }

  @Test
  void readsWeightsBesideTheModel() throws IOException {
    Path some = model("location", "model.onnx.data", "offset", "8", "length", "24");
    assertThat(run(some)).containsExactly(52, 63, 74);
    Path rest = model("location", "sub/w", "offset", "16", "checksum", "ignored");
    assertThat(run(rest)).containsExactly(74, 85, 96);
    Files.createSymbolicLink(folder.resolve("link"), Path.of("sub/w"));
    assertThat(run(model("location", "link", "length", "24"))).containsExactly(30, 41, 52);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "../secret | which leaves the model's folder; nothing was read",
        "sub/../../secret | which leaves the model's folder",
        "sub/.. | which leaves the model's folder",
        "/etc/passwd | which leaves the model's folder",
        "//etc/passwd | which leaves the model's folder",
        "..\\secret | which is no relative path",
        "'' | which is no relative path",
        "out | a link that leaves the model's folder; put the file itself there",
        "up/secret | a link that leaves the model's folder",
        "missing | which is not beside the model; copy it there",
        "sub | is a folder, not a file",
        "empty | the file is empty",
      })
  void neverLeavesTheFolder(String location, String why) throws IOException {
    Files.createSymbolicLink(folder.resolve("out"), outside.resolve("secret"));
    Files.createSymbolicLink(folder.resolve("up"), outside);
    Files.createFile(folder.resolve("empty"));
    assertRefused(model("location", location, "length", "24"), why);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "offset | 20 | lies at bytes 20 to 44 of 'model.onnx.data', which has 40: truncated",
        "offset | 999999999999999999 | lies at bytes 999999999999999999 to",
        "offset | -4 | has an external offset that is no natural number",
        "offset | 9223372036854775808 | has an external offset that is no natural number",
        "offset | x | has an external offset that is no natural number",
      })
  void staysWithinTheFile(String key, String value, String why) throws IOException {
    assertRefused(model("location", "model.onnx.data", "length", "24", key, value), why);
  }

  @Test
  void refusesPartsOfAnotherSizeAndContradictions() throws IOException {
    assertRefused(model("location", "model.onnx.data", "length", "20"), "has 20 bytes of data");
    assertRefused(model("location", "model.onnx.data"), "has 40 bytes of data");
    assertRefused(model("offset", "0"), "which is no relative path");
    assertRefused(model("location", "sub/w", "location", "m"), "two values of 'location'");
  }

  private static void assertRefused(Path model, String why) {
    assertThatThrownBy(() -> ModelFile.load(model))
        .isInstanceOf(UserError.class)
        .hasMessageContaining(why)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }
}
