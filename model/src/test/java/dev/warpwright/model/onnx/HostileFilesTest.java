package dev.warpwright.model.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.warpwright.base.UserError;
import dev.warpwright.model.Repository;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Whatever the bytes are, the importer gives a graph or a one-line error, and soon. */
class HostileFilesTest {
  private static final int MUTATIONS = Integer.getInteger("warpwright.mutations", 6000);

  /** A small model with something of everything. */
  private static byte[] smallModel() {
    return OnnxBuilder.withInput(2)
        .initializer("w", List.of(3, 2), 1, 2, 3, 4, 5, 6)
        .initializer(
            OnnxBuilder.tensor("b", OnnxBuilder.FLOAT, List.of(3))
                .bytes(4, OnnxBuilder.floats(1, 2, 3)))
        .initializer("s", List.of(3), 1, 1, 1)
        .initializer("v", List.of(3, 1), 1, 2, 3)
        .ints("shape", 0, -1)
        .node("Gemm", List.of("x", "w", "b"), "g", OnnxBuilder.attribute("transB", 1))
        .node("LayerNormalization", List.of("g", "s"), "n", OnnxBuilder.attribute("epsilon", 1e-5f))
        .node("Gelu", List.of("n"), "a", OnnxBuilder.attribute("approximate", "tanh"))
        .node("Reshape", List.of("a", "shape"), "r")
        .node("MatMul", List.of("r", "v"), "y")
        .output("y", "batch", 1)
        .build();
  }

  private static byte[] exportedModel() throws IOException {
    return Files.readAllBytes(Repository.model("tabular-tanh-sigmoid").resolve("model_ts.onnx"));
  }

  /** Imports; returns the graph, or null if the bytes were refused with a clean error. */
  private static Graph importOrRefuse(byte[] bytes) {
    try {
      return OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes));
    } catch (UserError e) {
      assertThat(e.getMessage()).startsWith("m.onnx: ");
      assertThat(e.getMessage().lines().count()).as(e.getMessage()).isEqualTo(1);
      return null;
    }
  }

  @Test
  void refusesEveryPrefix() throws IOException {
    byte[] small = smallModel();
    assertThat(importOrRefuse(small)).isNotNull();
    byte[] exported = exportedModel();
    assertThat(importOrRefuse(exported)).isNotNull();
    for (byte[] whole : List.of(small, exported)) {
      for (int length = 0; length < whole.length; length++) {
        byte[] prefix = Arrays.copyOf(whole, length);
        assertThat(importOrRefuse(prefix)).as("prefix of %d bytes", length).isNull();
      }
    }
  }

  @Test
  void survivesRandomMutations() throws IOException {
    long seed = Long.getLong("warpwright.seed", new Random().nextLong());
    System.out.println("HostileFilesTest seed: " + seed + " (repeat with -Dwarpwright.seed)");
    SplittableRandom random = new SplittableRandom(seed);
    byte[] small = smallModel();
    byte[] exported = exportedModel();
    assertTimeoutPreemptively(
        Duration.ofSeconds(30),
        () -> {
          int accepted = 0;
          for (int i = 0; i < MUTATIONS; i++) {
            byte[] mutated = mutate(i % 3 == 0 ? exported : small, random);
            Graph graph = importOrRefuse(mutated);
            if (graph != null && graph.inputs().getFirst().features() < 1000) {
              accepted++;
              evaluate(GraphSimplifier.simplify(graph));
            }
          }
          System.out.println("HostileFilesTest accepted " + accepted + " of " + MUTATIONS);
          assertThat(accepted).isBetween(1, MUTATIONS - 1);
        });
  }

  private static byte[] mutate(byte[] model, SplittableRandom random) {
    byte[] out = model.clone();
    int changes = random.nextInt(1, 4);
    for (int i = 0; i < changes; i++) {
      int at = random.nextInt(out.length);
      switch (random.nextInt(4)) {
        case 0 -> out[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> out[at] = (byte) random.nextInt(256);
        case 2 -> out[at] = (byte) 0xFF;
        default -> {
          int to = random.nextInt(out.length);
          int length = random.nextInt(Math.min(20, out.length - Math.max(at, to)) + 1);
          System.arraycopy(model, at, out, to, length);
        }
      }
    }
    return out;
  }

  /** An accepted graph must also be a consistent one. */
  private static void evaluate(Graph graph) {
    List<double[]> inputs =
        graph.inputs().stream().map(value -> new double[2 * value.features()]).toList();
    GraphEvaluator.evaluate(graph, 2, inputs);
  }

  @Test
  void importsLongChainsInLinearTime() {
    int length = 100_000;
    OnnxBuilder builder = OnnxBuilder.withInput(1);
    for (int i = 0; i < length; i++) {
      builder.node("Sin", List.of(i == 0 ? "x" : "v" + i), "v" + (i + 1));
    }
    byte[] bytes = builder.output("v" + length, "batch", 1).build();
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          Graph graph = GraphSimplifier.simplify(importOrRefuse(bytes));
          assertThat(graph.nodes()).hasSize(length);
        });
  }

  @Test
  void refusesLengthsThatOverflow() {
    // a length of 2^63 - 1, and one of 2^64 - 1
    for (long length : new long[] {Long.MAX_VALUE, -1}) {
      byte[] bytes = new Message().raw(7 << 3 | 2).raw(length).append(new byte[10]).build();
      assertThatThrownBy(() -> OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes)))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("truncated or corrupt ONNX at byte")
          .hasMessageContaining(Long.toUnsignedString(length) + " bytes announced, 10 left");
    }
  }

  @Test
  void refusesVarintsWithoutEnd() {
    byte[] bytes = new byte[20];
    Arrays.fill(bytes, (byte) 0x80);
    assertThatThrownBy(() -> OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("longer than ten bytes");
  }

  @Test
  void refusesMorePartsThanAModelHas() {
    Message graph = new Message();
    byte[] node = new Message().message(1, new Message()).build();
    for (int i = 0; i < 2_000_001; i++) {
      graph.append(node);
    }
    byte[] bytes = new Message().message(7, graph).build();
    assertThatThrownBy(() -> OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("parts");
  }

  @Test
  void refusesToFoldConstantsWithoutLimit() {
    int size = 1 << 10;
    OnnxBuilder builder = OnnxBuilder.withInput(1);
    builder.initializer("c0", List.of(size), new float[size]);
    for (int i = 0; i < 5000; i++) {
      builder.node("Neg", List.of("c" + i), "c" + (i + 1));
    }
    byte[] bytes = builder.build();
    assertThatThrownBy(() -> OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(bytes)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("constant subexpressions need too much memory");
  }
}
