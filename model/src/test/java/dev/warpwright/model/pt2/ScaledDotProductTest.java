package dev.warpwright.model.pt2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.zip.ZipArchive;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** PyTorch's attention: what is covered, and what is refused by its node's name. */
class ScaledDotProductTest {
  private static final long SEED = Long.getLong("seed", 23);
  private static final int ROWS = 3;
  private static final int HEADS = 4;
  private static final int KV_HEADS = 2;
  private static final int KEYS = 5;
  private static final int SIZE = 8;

  private static Graph graph(long tokens, Object... more) {
    List<Object> arguments =
        new ArrayList<>(
            List.of(
                "query",
                Pt2Builder.tensor("q"),
                "key",
                Pt2Builder.tensor("k"),
                "value",
                Pt2Builder.tensor("v")));
    arguments.addAll(Arrays.asList(more));
    byte[] bytes =
        new Pt2Builder()
            .input("q", "s0", HEADS, (int) tokens, SIZE)
            .input("k", "s0", KV_HEADS, KEYS, SIZE)
            .input("v", "s0", KV_HEADS, KEYS, SIZE)
            .input("m", "s0", 1, 1, KEYS)
            .node(
                "aten.scaled_dot_product_attention.default",
                "y",
                List.of("s0", HEADS, (int) tokens, SIZE),
                arguments.toArray())
            .output("y")
            .build();
    ZipArchive archive = ZipArchive.read("m", MemorySegment.ofArray(bytes));
    return Pt2Importer.importModel("m", archive, bytes.length);
  }

  private static double[] random(Random random, int count) {
    return random.doubles(count, -2, 2).toArray();
  }

  @Test
  void headsOfAGroupShareKeys() {
    Random random = new Random(SEED);
    double[] q = random(random, ROWS * HEADS * SIZE);
    double[] k = random(random, ROWS * KV_HEADS * KEYS * SIZE);
    double[] v = random(random, k.length);
    double[] mask = random(random, ROWS * KEYS);
    Graph graph = graph(1, "scale", Pt2Builder.number(0.75), "enable_gqa", Pt2Builder.flag(true));
    double[] got = GraphEvaluator.evaluate(graph, ROWS, List.of(q, k, v, mask)).getFirst();
    for (int head = 0; head < ROWS * HEADS; head++) {
      int first = head / HEADS * KV_HEADS + head % HEADS / (HEADS / KV_HEADS);
      double[] weights = new double[KEYS];
      for (int s = 0; s < KEYS; s++) {
        double score = 0;
        for (int d = 0; d < SIZE; d++) {
          score += q[head * SIZE + d] * k[(first * KEYS + s) * SIZE + d];
        }
        weights[s] = Math.exp(0.75 * score);
      }
      double all = Arrays.stream(weights).sum();
      for (int d = 0; d < SIZE; d++) {
        double expected = 0;
        for (int s = 0; s < KEYS; s++) {
          expected += weights[s] / all * v[(first * KEYS + s) * SIZE + d];
        }
        assertThat(got[head * SIZE + d])
            .as("head %d, column %d, seed %d", head, d, SEED)
            .isCloseTo(expected, within(1e-6));
      }
    }
  }

  private static void assertRefused(String why, long tokens, Object... more) {
    assertThatThrownBy(() -> graph(tokens, more))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("scaled_dot_product_attention")
        .hasMessageContaining(why)
        .hasMessageNotContaining("\n");
  }

  @Test
  void whatIsNotCoveredIsRefused() {
    Object[] grouped = {"enable_gqa", Pt2Builder.flag(true)};
    assertRefused("heads of query and key differ", 1);
    assertRefused("attention of 3 tokens at a time", 3, grouped);
    assertRefused(
        "attn_mask is not supported",
        1,
        grouped[0],
        grouped[1],
        "attn_mask",
        Pt2Builder.tensor("m"));
    assertRefused(
        "would see the first alone", 1, grouped[0], grouped[1], "is_causal", Pt2Builder.flag(true));
  }
}
