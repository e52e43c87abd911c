package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The few inputs of a row are read while the item before is computed. */
class PrefetchRowsTest {
  /** A layer of two inputs by a formula, and one by wgmma whose weights stay. */
  private static final String NETWORK =
      """
      primfunc two(x: f32[M, 2], W: f16[32, 32], W1: f32[32, 2], y: f16[M, 32], M: i32 in 1..8388608)
          [consumers = 2, resident = 2048] {
        persistent i in (M + 63) / 64 [blocks = 2, prefetch = 1] {
          alloc out: f16[64, 32] fragment
          alloc acc: f32[64, 32] fragment
          alloc a: f16[64, 32] fragment
          tile.map (r in 64, c in 32) {
            a[r, c] = select(i * 64 + r < M, f16(fma(x[i * 64 + r, 1], W1[c, 1], x[i * 64 + r, 0] * W1[c, 0])), 0.0f16)
          }
          tile.fill acc[0 +: 64, 0 +: 32] = 0.0f32
          pipeline k in 1 [stages = 1, unrolled = 1] {
            alloc Ws: f16[32, 32] shared
            tile.copy Ws[0 +: 32, 0 +: 32] <- W[0 +: 32, k * 32 +: 32]
            tile.mma acc[0 +: 64, 0 +: 32] += a[0 +: 64, k * 32 +: 32] * Ws[0 +: 32, 0 +: 32]^T [instr = "wgmma.m64n32k16.f32.f16.ra"]
          }
          tile.map (r1 in 64, c1 in 32) {
            out[r1, c1] = f16(acc[r1, c1])
          }
          tile.copy y[i * 64 +: 64, 0 +: 32] <- out[0 +: 64, 0 +: 32]
        }
      }
      """;

  /** Fewer rows than a tile has, no more items than warpgroups, and a second round for some. */
  @ParameterizedTest
  @ValueSource(longs = {1, 200, 300, 700})
  void rowsAreThoseOfTheItem(long rows) {
    PrimFunc func = FlowPrograms.parse(NETWORK);
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "y", Map.of("M", rows));
  }

  @Test
  void theNextItemsAreReadBehindThoseOfThisOne() {
    Map<String, String> texts = texts(NETWORK);
    assertThat(texts.get("LowerTiles")).doesNotContain("_next");
    assertThat(texts.get("PrefetchRows"))
        .containsSubsequence(
            "x_row_next[0] = select(",
            "mbarrier.wait(&full[0]",
            "for turn",
            "x_row[0] = x_row_next[0]",
            "x_row_next[0] = select(turn + 1",
            "wgmma");
    assertThat(texts.get("Simplify")).doesNotContain("if turn == 0").doesNotContain("prefetch =");
  }

  /** Without the attribute weights are waited for in the first item, and rows read by each. */
  @Test
  void nobodyIsAheadUnasked() {
    Map<String, String> texts = texts(NETWORK.replace(", prefetch = 1", ""));
    assertThat(texts).doesNotContainKey("PrefetchRows");
    assertThat(texts.get("Simplify")).contains("if turn == 0").doesNotContain("_next");
  }

  /** What the program writes itself it may not read before its time. */
  @Test
  void whatIsWrittenIsReadByTheItem() {
    String inPlace =
        NETWORK
            .replace("y: f16[M, 32], ", "")
            .replace("x: f32[M, 2]", "x: f32[M, 32]")
            .replace("alloc out: f16", "alloc out: f32")
            .replace("out[r1, c1] = f16(acc[r1, c1])", "out[r1, c1] = acc[r1, c1]")
            .replace("tile.copy y[", "tile.copy x[");
    assertThat(texts(inPlace).get("Simplify")).contains("x_row").doesNotContain("_next");
  }

  private static Map<String, String> texts(String program) {
    return EarlyWaitsTest.texts(FlowPrograms.parse(program));
  }
}
