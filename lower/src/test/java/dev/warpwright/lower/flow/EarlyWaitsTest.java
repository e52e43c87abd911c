package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Layers one behind the other wait for their weights while the one before is computed. */
class EarlyWaitsTest {
  /** Two layers whose weights stay; between them a map and what is in its place. */
  private static final String LAYERS =
      """
      primfunc two(x: f16[M, 32], W: f16[32, 32], W1: f16[32, 32], y: f16[M, 32], M: i32 in 1..8388608)
          [consumers = 2, resident = 4096] {
        persistent i in (M + 63) / 64 [blocks = 2] {
          alloc out: f16[64, 32] fragment
          alloc acc1: f32[64, 32] fragment
          alloc h: f16[64, 32] fragment
          alloc acc: f32[64, 32] fragment
          alloc a: f16[64, 32] fragment
          tile.copy a[0 +: 64, 0 +: 32] <- x[i * 64 +: 64, 0 +: 32]
          tile.fill acc[0 +: 64, 0 +: 32] = 0.0f32
          pipeline k in 1 [stages = 1, unrolled = 1] {
            alloc Ws: f16[32, 32] shared
            tile.copy Ws[0 +: 32, 0 +: 32] <- W[0 +: 32, k * 32 +: 32]
            tile.mma acc[0 +: 64, 0 +: 32] += a[0 +: 64, k * 32 +: 32] * Ws[0 +: 32, 0 +: 32]^T [instr = "wgmma.m64n32k16.f32.f16.ra"]
          }
          tile.map (r in 64, c in 32) {
            h[r, c] = f16(max(acc[r, c], 0.0f32))
          }
          tile.fill acc1[0 +: 64, 0 +: 32] = 0.0f32
          pipeline k1 in 1 [stages = 1, unrolled = 1] {
            alloc Ws1: f16[32, 32] shared
            tile.copy Ws1[0 +: 32, 0 +: 32] <- W1[0 +: 32, k1 * 32 +: 32]
            tile.mma acc1[0 +: 64, 0 +: 32] += h[0 +: 64, k1 * 32 +: 32] * Ws1[0 +: 32, 0 +: 32]^T [instr = "wgmma.m64n32k16.f32.f16.ra"]
          }
          tile.map (r1 in 64, c1 in 32) {
            out[r1, c1] = f16(acc1[r1, c1])
          }
          tile.copy y[i * 64 +: 64, 0 +: 32] <- out[0 +: 64, 0 +: 32]
        }
      }
      """;

  private static final Pattern PRODUCT_WAIT_MAP =
      Pattern.compile(
          "(?s)tile\\.mma acc\\[.*?\\}\\s*if turn == 0 \\{\\s*mbarrier\\.wait\\(&full_1\\[0\\],"
              + " 0\\)\\s*\\}\\s*tile\\.map");

  @Test
  void theSecondLayersWeightsAreWaitedForBehindTheFirstProduct() {
    PrimFunc func = FlowPrograms.parse(LAYERS);
    Map<String, String> texts = texts(func);
    assertThat(texts.get("LowerPipes")).doesNotContainPattern(PRODUCT_WAIT_MAP);
    assertThat(texts.get("EarlyWaits")).containsPattern(PRODUCT_WAIT_MAP);
    // The first layer's stay where they were: nothing is under way before.
    assertThat(texts.get("EarlyWaits"))
        .containsPattern(
            "(?s)unroll k in 1 \\{\\s*if turn == 0 \\{\\s*mbarrier.wait\\(&full\\[k\\]");
    String kernel = texts.get("Simplify");
    assertThat(kernel.indexOf("mbarrier.wait(&full_1[0]"))
        .isBetween(kernel.indexOf("wgmma.commit()"), kernel.indexOf("wgmma.wait(0)"));
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "y", Map.of("M", 300L));
  }

  /** Weights that flow by are given back in between: whoever fills the next may wait for that. */
  @Test
  void noWaitPassesAnArrival() {
    String text =
        LAYERS
            .replace("resident = 4096", "resident = 2048")
            .replaceFirst("pipeline k in 1 \\[stages = 1", "pipeline k in 2 [stages = 1")
            .replace("alloc Ws: f16[32, 32]", "alloc Ws: f16[32, 16]")
            .replace(
                "Ws[0 +: 32, 0 +: 32] <- W[0 +: 32, k * 32 +: 32]",
                "Ws[0 +: 32, 0 +: 16] <- W[0 +: 32, k * 16 +: 16] [stream = 1]")
            .replace(
                "a[0 +: 64, k * 32 +: 32] * Ws[0 +: 32, 0 +: 32]",
                "a[0 +: 64, k * 16 +: 16] * Ws[0 +: 32, 0 +: 16]");
    PrimFunc func = FlowPrograms.parse(text);
    Map<String, String> texts = texts(func);
    assertThat(texts.get("LowerPipes")).contains("if turn == 0", "mbarrier.arrive(&empty[");
    assertThat(texts).doesNotContainKey("EarlyWaits").containsKey("LowerTiles");
  }

  /** What each pass leaves. */
  static Map<String, String> texts(PrimFunc func) {
    Map<String, String> texts = new HashMap<>();
    PassListener listener = (pass, text) -> texts.put(pass, text.get());
    Lowering.lower(func, GpuTarget.SM_90A, listener);
    return texts;
  }
}
