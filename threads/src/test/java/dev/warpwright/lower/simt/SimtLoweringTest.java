package dev.warpwright.lower.simt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.LoweringException;
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

  private static final String SHARE =
      """
      primfunc share(x: f32[64], y: f32[64]) {
        bind b: blockIdx.x in 2 {
          alloc s: f32[32] shared
          for r in 3 {
            bind t: threadIdx.x in 32 {
              s[t] = x[b * 32 + t]
            }
            bind u: threadIdx.x in 32 {
              y[b * 32 + u] = s[31 - u]
            }
          }
        }
      }
      """;

  @Test
  void barriersStandWhereThreadsMeetOthersDataAndNowhereElse() {
    assertThat(IrPrinter.text(lower(SHARE)))
        .isEqualTo(
            """
            kernel share(x: f32[64], y: f32[64]) grid(bx = 2) block(tx = 32) {
              alloc s: f32[32] shared
              for r in 3 {
                sync_threads()
                s[tx] = x[bx * 32 + tx]
                sync_threads()
                y[bx * 32 + tx] = s[tx * -1 + 31]
              }
            }
            """);
  }

  private static final String TOGETHER =
      """
      primfunc together(x: f32[2, 3, 32], y: f32[2, 32]) {
        bind b: blockIdx.x in 2 {
          alloc p: f32[3, 32] global
          bind z: blockIdx.z in 3 {
            bind t: threadIdx.x in 32 {
              p[z, t] = x[b, z, t]
            }
          }
          bind u: threadIdx.x in 32 {
            y[b, u] = p[0, u] + p[1, u] + p[2, u]
          }
        }
      }
      """;

  @Test
  void theLastOfSeveralBlocksGoesOnWithWhatTheyShare() {
    assertThat(IrPrinter.text(lower(TOGETHER)))
        .isEqualTo(
            """
            kernel together(x: f32[2, 3, 32], y: f32[2, 32], p: f32[2, 3, 32], counters: u32[2]) grid(bx = 2, bz: blockIdx.z = 3) block(tx = 32) [zero = "counters"] {
              alloc turn: u32[1] shared
              p[bx, bz, tx] = x[bx, bz, tx]
              sync_threads()
              if tx == 0 {
                turn[0] = atomic.add.acq_rel.u32(&counters[bx], 1u32)
              }
              sync_threads()
              if turn[0] == 2u32 {
                if tx == 0 {
                  counters[bx] = 0u32
                }
                y[bx, tx] = p[bx, 0, tx] + p[bx, 1, tx] + p[bx, 2, tx]
              }
            }
            """);
  }

  private static final String SHORTER =
      """
      primfunc shorter(x: f32[40], y: f32[2, 8]) {
        bind b: blockIdx.x in 2 {
          alloc sum: f32[8] local
          bind t: threadIdx.x in 8 {
            sum[t] = 0.0f32
          }
          pipeline k in 3 [stages = 2, zeros = 1] {
            alloc s: f32[8] shared
            bind t: threadIdx.x in 8 {
              s[t] = select(b * 3 + k < 5, x[b * 24 + k * 8 + t], 0.0f32)
            }
            bind t: threadIdx.x in 8 {
              sum[t] = sum[t] + s[7 - t]
            }
          }
          bind t: threadIdx.x in 8 {
            y[b, t] = sum[t]
          }
        }
      }
      """;

  @Test
  void stepsThatAddNothingButZerosAreLeftOut() {
    assertThat(IrPrinter.text(lower(SHORTER)))
        .contains("for k in min(bx * -3 + 5, 3) {", "s_next[0] = x[bx * 24 + k * 8 + tx + 8]");
    assertThat(IrPrinter.text(lower(SHORTER.replace(", zeros = 1", ""))))
        .contains("for k in 3 {", "s_next[0] = select(");
  }

  @Test
  void globalMemoryIsForBlocksOfOneLoop() {
    refused(
        TOGETHER.replace("bind z: blockIdx.z in 3", "for z in 3"),
        "no loop over them that fills it");
  }

  @Test
  void threadsKeepTheirPartOfLocalBuffers() {
    String text =
        """
        primfunc part(y: f32[16, 8]) {
          alloc a: f32[16, 8] local
          bind t: threadIdx.x in 8 {
            for g in 2 {
              for j in 4 {
                a[g * 8 + t, j * 2] = 1.0f32
              }
            }
          }
          bind u: threadIdx.x in 8 {
            for g in 2 {
              for j in 4 {
                y[g * 8 + u, j] = a[g * 8 + u, j * 2]
              }
            }
          }
        }
        """;
    assertThat(IrPrinter.text(lower(text)))
        .contains("alloc a: f32[2, 4] local", "a[g, j] = 1.0f32", "y[g * 8 + tx, j] = a[g, j]");
    refused(text.replace("= a[g * 8 + u, j * 2]", "= a[g * 8 + 7 - u, j * 2]"), "do not agree");
  }

  @Test
  void pipelinedLoopsLoadAhead() {
    String text =
        """
        primfunc ahead(x: f32[8, 32], y: f32[8, 32]) {
          bind b: blockIdx.x in 1 {
            pipeline k in 8 [stages = 2] {
              alloc s: f32[32] shared
              bind t: threadIdx.x in 32 {
                s[t] = x[k, t]
              }
              bind u: threadIdx.x in 32 {
                y[k, u] = s[31 - u]
              }
            }
          }
        }
        """;
    assertThat(IrPrinter.text(lower(text)))
        .isEqualTo(
            """
            kernel ahead(x: f32[8, 32], y: f32[8, 32]) grid(bx = 1) block(tx = 32) {
              alloc s: f32[2, 32] shared
              s[0, tx] = x[0, tx]
              sync_threads()
              alloc s_next: f32[1] local
              for k in 8 {
                if k < 7 {
                  s_next[0] = x[k + 1, tx]
                }
                y[k, tx] = s[k % 2, tx * -1 + 31]
                if k < 7 {
                  s[(k + 1) % 2, tx] = s_next[0]
                }
                sync_threads()
              }
            }
            """);
    assertThat(IrPrinter.text(lower(text.replace("[stages = 2]", "[async = 1, stages = 3]"))))
        .isEqualTo(
            """
            kernel ahead(x: f32[8, 32], y: f32[8, 32]) grid(bx = 1) block(tx = 32) {
              alloc s: f32[3, 32] shared
              cp.async.4(&s[0, tx], &x[0, tx], 4)
              cp.async.commit()
              cp.async.4(&s[1, tx], &x[1, tx], 4)
              cp.async.commit()
              for k in 8 {
                cp.async.wait(1)
                sync_threads()
                if k < 6 {
                  cp.async.4(&s[(k + 2) % 3, tx], &x[k + 2, tx], 4)
                }
                cp.async.commit()
                y[k, tx] = s[k % 3, tx * -1 + 31]
              }
            }
            """);
    refused(text.replace("stages = 2", "stages = 3"), "has 3 stages");
    assertThat(
            IrPrinter.text(
                lower(text.replace("[stages = 2]", "[async = 1, stages = 3, `unroll` = 3]"))))
        .contains("for k in 8 [`unroll` = 3] {");
    refused(text.replace("s[t] = x[k, t]", "s[t] = y[k, t]"), "copies nothing");
  }

  @Test
  void vectorsAreUsedWhereAlignmentIsCertain() {
    String text =
        """
        primfunc wide(x: f32[4, 32], y: f32[4, 32]) {
          bind t: threadIdx.x in 32 {
            vector v in 4 {
              y[t / 8, t % 8 * 4 + v] = x[t / 8, t % 8 * 4 + v]
            }
          }
        }
        """;
    assertThat(IrPrinter.text(lower(text)))
        .contains("y[tx / 8, ramp(tx % 8 * 4, 1, 4)] = x[tx / 8, ramp(tx % 8 * 4, 1, 4)]");
    String odd = text.replace("x: f32[4, 32]", "x: f32[4, 33]");
    assertThat(IrPrinter.text(lower(odd)))
        .contains(
            "alloc y_vec: f32[4] local",
            "y[tx / 8, ramp(tx % 8 * 4, 1, 4)] = y_vec[ramp(0, 1, 4)]");
    assertThat(IrPrinter.text(lower(odd.replace("y: f32[4, 32]", "y: f32[4, 35]"))))
        .contains("unroll v in 4")
        .doesNotContain("ramp");
    String guarded =
        text.replace(
            "= x[t / 8, t % 8 * 4 + v]",
            "= select(t % 8 * 4 + v < 20, x[t / 8, t % 8 * 4 + v], 0.0f32)");
    assertThat(IrPrinter.text(lower(guarded))).contains("select(broadcast(");
    assertThat(IrPrinter.text(lower(guarded.replace("< 20", "< 21")))).doesNotContain("ramp");
  }

  @Test
  void accumulatorsLeaveThroughRegistersOfTheStore() {
    String text =
        """
        primfunc accumulate(x: f32[8, 128], y: f32[128]) {
          bind t: threadIdx.x in 32 {
            alloc acc: f32[128] local
            unroll v in 4 { acc[t * 4 + v] = 0.0f32 }
            for k in 8 {
              unroll v in 4 {
                acc[t * 4 + v] = fma(x[k, t * 4 + v], 2.0f32, acc[t * 4 + v])
              }
            }
            vector v in 4 { y[t * 4 + v] = acc[t * 4 + v] }
          }
        }
        """;
    assertThat(IrPrinter.text(lower(text)))
        .contains(
            "alloc y_vec: f32[4] local",
            "y_vec[v] = copy.f32(acc[v])",
            "y[ramp(tx * 4, 1, 4)] = y_vec[ramp(0, 1, 4)]");
    // What no multiply-add adds to is stored from where it is.
    assertThat(IrPrinter.text(lower(text.replace("fma(x[k, t * 4 + v], 2.0f32, ", "(1.0f32 + "))))
        .contains("y[ramp(tx * 4, 1, 4)] = acc[ramp(0, 1, 4)]")
        .doesNotContain("copy.f32");
  }

  @Test
  void whatIsNotExecutedByAllThreadsIsRefused() {
    refused(
        SHARE.replace("bind u: threadIdx.x in 32", "for u in 32"), "not inside a loop bound to");
    refused(SHARE.replace("bind u: threadIdx.x in 32", "bind u: threadIdx.x in 16"), "extents");
  }
}
