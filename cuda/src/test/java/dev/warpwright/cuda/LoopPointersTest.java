package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Locale;
import org.junit.jupiter.api.Test;

final class LoopPointersTest {
  private static String text(String attributes, String body) {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                String.format(
                    Locale.ROOT,
                    """
                    kernel k(X: f16[65536, 64], Y: f16[65536, 64], F: f32[65536])
                        grid(bx = 2) block(tid = 128) {
                      alloc r: f16[8] local
                      for turn in 8 %s {
                        let item: i32 = turn * 2 + bx
                        %s
                      }
                    }
                    """,
                    attributes,
                    body));
    assertThat(Verifier.verify(kernel)).isEmpty();
    return CudaPrinter.print(kernel, GpuTarget.SM_80);
  }

  @Test
  void rowsOfItemsAreReachedByIncrementedPointers() {
    String printed =
        text(
            "[items = 1]",
            """
            unroll j in 2 {
              r[ramp(0, 1, 8)] = X[item * 128 + tid + j * 4, ramp(8, 1, 8)]
              Y[item * 128 + tid + j * 4, ramp(0, 1, 8)] = r[ramp(0, 1, 8)]
            }
            """);
    assertThat(printed)
        .containsPattern("const f16\\* x_at =\\s+&X\\[")
        .containsPattern("f16\\* y_at =\\s+&Y\\[")
        .contains("*(const Vec<f16, 8>*)&x_at[j * 256]")
        .contains("*(Vec<f16, 8>*)&y_at[j * 256] = ")
        // Two blocks' items of 128 rows of 64.
        .contains("x_at += 16384;")
        .contains("y_at += 16384;");
  }

  @Test
  void columnsApartShareAPointer() {
    assertThat(
            text(
                "[items = 1]",
                """
                r[0] = X[item * 128 + tid, 3]
                r[1] = X[item * 128 + tid, 5]
                Y[0, 0] = r[0]
                Y[0, 1] = r[1]
                """))
        .contains("r[0] = x_at[0];")
        .contains("r[1] = x_at[2];")
        .containsOnlyOnce("x_at +=");
  }

  @Test
  void whatIsNoItemOrNotLinearIsAddressed() {
    String rows = "Y[item * 128 + tid, 0] = r[0]";
    assertThat(text("", rows)).doesNotContain("_at");
    assertThat(text("[items = 1]", "Y[item / 3 * 128 + tid, 0] = r[0]")).doesNotContain("_at");
    assertThat(text("[items = 1]", "Y[tid, 0] = r[0]")).doesNotContain("_at");
    assertThat(text("[items = 1]", "for k in 3 { Y[item * 128 + tid, k] = r[0] }"))
        .doesNotContain("_at");
    // Four bytes each, and nothing narrower beside them: no faster so.
    assertThat(text("[items = 1]", "F[item * 128 + tid] = 0.0f32")).doesNotContain("_at");
  }

  /**
   * What the loop does not change is added up ahead of it, the pragma stays in front of the loop.
   */
  @Test
  void stepsOfSharedMemoryAreOffsetsFromAPointer() {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                """
                kernel k(Y: f32[128]) grid(bx = 2) block(tid = 128) {
                  alloc w: f32[4, 64, 64] shared
                  alloc r: f32[1] local
                  r[0] = 0.0f32
                  w[0, tid % 64, tid / 64] = 0.0f32
                  sync_threads()
                  for layer in 4 {
                    for k in 64 [pointers = 1, `unroll` = 16] {
                      unroll s in 2 { r[0] = fma(w[layer, k, tid % 8 * 4 + s * 32], 2.0f32, r[0]) }
                    }
                  }
                  Y[tid] = r[0]
                }
                """);
    assertThat(Verifier.verify(kernel)).isEmpty();
    assertThat(CudaPrinter.print(kernel, GpuTarget.SM_80))
        .containsPattern(
            "(?s)float\\* w_at =\\s+&w\\[.*layer \\* 4096.*];\\n#pragma unroll 16\\n +for \\(int k = 0;")
        .contains("w_at[s * 32 + k * 64]")
        .doesNotContain("w_at +=");
  }
}
