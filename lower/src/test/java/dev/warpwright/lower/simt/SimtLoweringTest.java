package dev.warpwright.lower.simt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.gpu.LoweringException;
import org.junit.jupiter.api.Test;

class SimtLoweringTest {
  private static final String ROW_SUMS =
      """
      primfunc sums(x: f32[n, 20], y: f32[n], n: i32 in 1..1000) {
        bind b: blockIdx.x in (n + 31) / 32 {
          bind t: threadIdx.x in 32 {
            alloc sum: f32[1] local
            for k in 20 {
              block add(vi: spatial(n) = b * 32 + t, vk: reduce(20) = k) where b * 32 + t < n {
                init {
                  sum[0] = 0.0f32
                }
                sum[0] = sum[0] + x[vi, vk]
              }
            }
            block store(vi: spatial(n) = b * 32 + t) where b * 32 + t < n {
              y[vi] = sum[0]
            }
          }
        }
      }
      """;

  private static Kernel lower(String text) {
    return SimtLowering.lower(new IrParser().primFunc("test", text));
  }

  @Test
  void boundLoopsBecomeTheLaunch() {
    assertThat(IrPrinter.text(lower(ROW_SUMS)))
        .isEqualTo(
            """
            kernel sums(x: f32[n, 20], y: f32[n], n: i32 in 1..1000) grid(bx = (n + 31) / 32) block(tx = 32) {
              alloc sum: f32[1] local
              for k in 20 {
                if bx * 32 + tx < n {
                  if k == 0 {
                    sum[0] = 0.0f32
                  }
                  sum[0] = sum[0] + x[bx * 32 + tx, k]
                }
              }
              if bx * 32 + tx < n {
                y[bx * 32 + tx] = sum[0]
              }
            }
            """);
  }

  @Test
  void whatIsNotTheProgramOfOneThreadIsRefused() {
    refused(
        ROW_SUMS.replace("bind b: blockIdx.x", "for b").replace("bind t: threadIdx.x", "for t"),
        "no loop bound");
    refused(
        ROW_SUMS.replace("for k in 20 {", "tile.fill sum[0 +: 1] = 0.0f32\n for k in 20 {"),
        "a tile statement");
  }

  private static void refused(String text, String message) {
    assertThatThrownBy(() -> lower(text))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining(message);
  }
}
