package dev.warpwright.model.pt2;

import static dev.warpwright.model.pt2.Pt2Builder.integers;
import static dev.warpwright.model.pt2.Pt2Builder.number;
import static dev.warpwright.model.pt2.Pt2Builder.one;
import static dev.warpwright.model.pt2.Pt2Builder.tensor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.model.Repository;
import dev.warpwright.model.fuzz.Archives;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.zip.ZipArchive;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What cannot be imported is refused with one line that names the node or the part. */
class Pt2ErrorsTest {
  private static final List<Object> ROWS = List.of("s0", 2);

  private static Graph read(byte[] bytes) {
    ZipArchive archive = ZipArchive.read("m", MemorySegment.ofArray(bytes));
    return Pt2Importer.importModel("m", archive, bytes.length);
  }

  private static void assertRefused(byte[] bytes, String why) {
    assertThatThrownBy(() -> read(bytes))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("m: ")
        .hasMessageContaining(why)
        .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
  }

  /** A model with input x: [s0, 2] and weights w: [2, 2]. */
  private static Pt2Builder model() {
    return new Pt2Builder().parameter("w", List.of(2, 2), 1, 2, 3, 4).input("x", "s0", 2);
  }

  private static Pt2Builder relu() {
    return model().node("aten.relu.default", "y", ROWS, "self", tensor("x")).output("y");
  }

  @Test
  void acceptsTheModelThatTheOthersAreMadeFrom() {
    assertThat(read(relu().build()).nodes()).hasSize(1);
  }

  @Test
  void refusesOperatorsAndArgumentsByName() {
    assertRefused(
        model().node("aten.conv2d.default", "y", ROWS, "self", tensor("x")).output("y").build(),
        "node 'y' has unsupported operator 'aten.conv2d.default'; supported: aten.");
    assertRefused(
        model()
            .node("aten.relu.default", "y", ROWS, "self", tensor("x"), "speed", number(3))
            .output("y")
            .build(),
        "node 'y' (aten.relu.default): argument 'speed' is not supported");
    assertRefused(
        model().node("aten.relu.default", "y", ROWS, "self", number(3)).output("y").build(),
        "argument 'self' must be a tensor");
    assertRefused(
        model().node("aten.relu.default", "y", ROWS).output("y").build(),
        "argument 'self' must be a tensor, but is missing");
    assertRefused(
        model().node("aten.relu.default", "y", ROWS, "self", tensor("z")).output("y").build(),
        "node 'y' reads 'z', which is no input");
  }

  @Test
  void refusesCyclesAndNamesThatAreThereTwice() {
    assertRefused(
        model()
            .node("aten.relu.default", "a", ROWS, "self", tensor("b"))
            .node("aten.tanh.default", "b", ROWS, "self", tensor("a"))
            .output("b")
            .build(),
        "nodes are cyclic or out of order");
    Pt2Builder twice = relu();
    twice.rawNode("aten.tanh.default", "y", List.of(tensor("y")), "self", tensor("x"));
    assertRefused(twice.build(), "defines the name 'y' a second time");
  }

  @Test
  void refusesOverwritingWhatSomethingElseSees() {
    Pt2Builder used =
        model()
            .node("aten.sin.default", "a", ROWS, "self", tensor("x"))
            .node("aten.relu_.default", "b", ROWS, "self", tensor("a"))
            .node("aten.add.Tensor", "y", ROWS, "self", tensor("a"), "other", tensor("b"))
            .output("y");
    assertRefused(used.build(), "node 'b' (aten.relu_.default): overwrites 'a', which something");
    assertRefused(
        model().node("aten.relu_.default", "y", ROWS, "self", tensor("x")).output("y").build(),
        "overwrites 'x'");
    Pt2Builder view =
        model()
            .node("aten.linear.default", "a", ROWS, "input", tensor("x"), "weight", tensor("w"))
            .node("aten.detach.default", "b", ROWS, "self", tensor("a"))
            .node("aten.relu_.default", "y", ROWS, "self", tensor("b"))
            .output("y");
    assertRefused(view.build(), "overwrites 'b'");
    Pt2Builder alone =
        model()
            .node("aten.linear.default", "a", ROWS, "input", tensor("x"), "weight", tensor("w"))
            .node("aten.relu_.default", "y", ROWS, "self", tensor("a"))
            .output("y");
    assertThat(read(alone.build()).nodes()).hasSize(2);
  }

  @Test
  void refusesTrainingAndOutputsThatAreNoTensors() {
    Json named = Json.object().with("name", "y");
    assertRefused(
        relu()
            .output(
                one("buffer_mutation", Json.object().with("arg", named).with("buffer_name", "")))
            .build(),
        "changes its buffers when it runs, which is not supported; call model.eval()");
    assertRefused(
        relu().output(one("loss_output", Json.object().with("arg", named))).build(),
        "has an output of unsupported kind 'loss_output'");
    assertRefused(
        relu().output(one("user_output", one("arg", number(1)))).build(),
        "has an output that is no tensor (float)");
    assertRefused(
        model()
            .node(
                "aten.dropout.default",
                "y",
                ROWS,
                "input",
                tensor("x"),
                "p",
                number(0.5),
                "train",
                Pt2Builder.flag(true))
            .output("y")
            .build(),
        "was exported in training mode; call model.eval() first");
  }

  @Test
  void refusesShapesThatContradictEachOther() {
    assertRefused(
        model()
            .node(
                "aten.view.default",
                "y",
                List.of("s0", 2),
                "self",
                tensor("x"),
                "size",
                integers(-1L, 4L))
            .output("y")
            .build(),
        "gives sizes [-1, 4], but the output is said to be [s0, 2]");
    assertRefused(
        model()
            .node("aten.relu.default", "y", List.of("s0", 3), "self", tensor("x"))
            .output("y")
            .build(),
        "output 'y' is declared as");
  }

  @Test
  void refusesOtherVersions() {
    assertRefused(
        relu().schema(7).build(), "was exported with schema version 7.17; supported: 8.x");
    String program = relu().program();
    Pt2Builder builder = relu();
    assertRefused(
        builder.archive(program, Map.of("m/archive_version", "1")),
        "its archive_version is '1'; supported: '0'");
    assertRefused(builder.archive(program, Map.of("m/byteorder", "big")), "its byteorder is 'big'");
    assertRefused(builder.archive(program, Map.of("m/models/other.json", "{}")), "m: has 2 models");
    assertRefused(
        builder.archive(program, Map.of("m/models/model.json", "")), "has no exported program");
    assertRefused(
        Archives.stored("m/serialized_exported_program.json", new byte[0]),
        "was exported by PyTorch 2.7 or older");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"path_name\": \"weight_0\" | \"path_name\": \"weight_9\" | lies in"
            + " 'm/data/weights/weight_9', which",
        "\"path_name\": \"weight_0\" | \"path_name\": \"../../x\" | which is missing",
        "\"use_pickle\": false | \"use_pickle\": true | tensor 'w' is no plain tensor, but a"
            + " pickled",
        "\"dtype\": 7 | \"dtype\": 9 | has unsupported element type 9",
        "\"dtype\": 7 | \"dtype\": 8 | has shape [2, 2] from element 0 on, but its storage has 2",
        "\"dtype\": 7 | \"dtype\": 9223372036854775808 | no 64-bit integer",
        "\"sizes\": [{\"as_int\": 2} | \"sizes\": [{\"as_int\": 3} | but its storage has 4",
        "\"sizes\": [{\"as_int\": 2} | \"sizes\": [{\"as_int\": -2} | no natural numbers",
        "\"sizes\": [{\"as_int\": 2} | \"sizes\": [{\"as_int\": 999999999999999999} | its storage"
            + " has 4",
        "\"strides\": [{\"as_int\": 2} | \"strides\": [{\"as_int\": 3} | with strides [3, 1]",
        "\"strides\": [{\"as_int\": 2}, | \"strides\": [ | but strides [1]",
        "\"storage_offset\": {\"as_int\": 0} | \"storage_offset\": {\"as_int\": 1} | from element 1"
            + " on",
        "\"tensor_meta\": | \"tensor_mata\": | is no plain tensor",
        "\"config\": | \"confix\": | config is missing",
        "{\"config\" | {\"config\": {}, \"config\" | key 'config' twice",
      })
  void refusesWeightsThatAreNotAsTheyShouldBe(String from, String to, String why) {
    byte[] whole = relu().build();
    String config = entry(whole, "m/data/weights/model_weights_config.json");
    assertThat(config).contains(from);
    assertRefused(
        relu()
            .archive(
                relu().program(),
                Map.of("m/data/weights/model_weights_config.json", config.replace(from, to))),
        why);
  }

  private static String entry(byte[] archive, String name) {
    MemorySegment bytes = ZipArchive.read("m", MemorySegment.ofArray(archive)).entry(name);
    assertThat(bytes).isNotNull();
    return StandardCharsets.UTF_8.decode(bytes.asByteBuffer()).toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{}",
        "{\"graph_module\": 3}",
        "{\"schema_version\": {\"major\": 8, \"minor\": 17}}",
        "{\"schema_version\": {\"major\": 8.5, \"minor\": 17}}",
        "{\"schema_version\": {\"major\": 8, \"minor\": 17}, \"graph_module\": {\"graph\": {}}}",
      })
  void refusesProgramsThatAreNone(String program) {
    assertRefused(relu().archive(program + " "), "");
  }

  @Test
  void refusesDeepJson() {
    assertRefused(relu().archive("[".repeat(100_000)), "nested deeper than 32");
    assertRefused(relu().archive("{\"a\":".repeat(100_000)), "nested deeper than 32");
  }

  @Test
  void refusesEveryPrefix() throws IOException {
    byte[] small = relu().build();
    for (int length = 0; length < small.length; length++) {
      byte[] prefix = Arrays.copyOf(small, length);
      assertThatThrownBy(() -> read(prefix)).isInstanceOf(UserError.class);
    }
    byte[] large =
        Files.readAllBytes(Repository.model("tabular-tanh-sigmoid").resolve("model.pt2"));
    for (int length = 0; length < large.length; length += 331) {
      byte[] prefix = Arrays.copyOf(large, length);
      assertThatThrownBy(() -> read(prefix)).isInstanceOf(UserError.class);
    }
  }

  @Test
  void everyChangedByteIsNoticedOrDoesNoHarm() throws IOException {
    byte[] whole =
        Files.readAllBytes(Repository.model("tabular-tanh-sigmoid").resolve("model.pt2"));
    int weights = 6000;
    for (int at = 100; at < weights; at += 97) {
      byte[] changed = whole.clone();
      changed[at] ^= 0x10;
      assertRefused(changed, "does not have its checksum");
    }
  }
}
