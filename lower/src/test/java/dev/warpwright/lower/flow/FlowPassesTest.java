package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.lower.tile.PassRefusal;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.target.GpuTarget;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What single passes make of programs, and what they refuse. */
class FlowPassesTest {
  private static final PrimFunc GEMM =
      FlowPrograms.gemm(64, 32, 320, 64, 32, 64, 3, 0, 1, FlowPrograms.DIRECT);

  /** The texts behind all passes. */
  private static Map<String, String> texts(PrimFunc func) {
    Map<String, String> texts = new HashMap<>();
    PassListener listener = (pass, text) -> texts.put(pass, text.get());
    Lowering.lower(func, GpuTarget.SM_90A, listener);
    return texts;
  }

  @Test
  void pipesBecomeRingsAndBarriers() {
    assertThat(texts(GEMM).get("LowerPipes"))
        .isEqualTo(
            """
            primfunc gemm(A: bf16[64, 320], B: bf16[32, 320], C: bf16[64, 32]) {
              bind m: blockIdx.y in 1 {
                bind n: blockIdx.x in 1 {
                  alloc As: bf16[3, 64, 64] shared layout (3:4096),(64:64),(64:1)^<3,3,3> align 1024
                  alloc Bs: bf16[3, 32, 64] shared layout (3:2048),(32:64),(64:1)^<3,3,3> align 1024
                  alloc full: mbarrier[3] shared
                  alloc empty: mbarrier[3] shared
                  for one in 1 [elect = 1] {
                    unroll s in 3 {
                      mbarrier.init(&full[s], 1)
                      mbarrier.init(&empty[s], 1)
                    }
                    fence.mbarrier_init()
                  }
                  roles {
                    role load warps 1 [registers = 40] {
                      for one in 1 [elect = 1] {
                        alloc next: i32[1] local
                        alloc parity: i32[1] local
                        next[0] = 0
                        parity[0] = 0
                        for k in (320 + 64 - 1) / 64 {
                          let stage: i32 = next[0]
                          mbarrier.wait(&empty[stage], parity[0] ^ 1)
                          mbarrier.arrive.expect_tx(&full[stage], 12288)
                          bulk.load.2d(&As[stage, 0, 0], &A[m * 64, k * 64], &full[stage], 64, 64)
                          bulk.load.2d(&Bs[stage, 0, 0], &B[n * 32, k * 64], &full[stage], 32, 64)
                          next[0] = select(stage == 2, 0, stage + 1)
                          parity[0] = parity[0] ^ i32(stage == 2)
                        }
                      }
                    }
                    role math warps 4 {
                      alloc acc: f32[64, 32] fragment
                      alloc next: i32[1] local
                      alloc parity: i32[1] local
                      next[0] = 0
                      parity[0] = 0
                      tile.fill acc[0 +: 64, 0 +: 32] = 0.0f32
                      for k in (320 + 64 - 1) / 64 {
                        let stage: i32 = next[0]
                        mbarrier.wait(&full[stage], parity[0])
                        tile.mma acc[0 +: 64, 0 +: 32] += As[stage, 0 +: 64, 0 +: 64] * Bs[stage, 0 +: 32, 0 +: 64]^T [instr = "wgmma.m64n32k16.f32.bf16"]
                        wgmma.wait(1)
                        if k > 0 {
                          for one in 1 [elect = 1] {
                            mbarrier.arrive(&empty[select(stage == 0, 2, stage + -1)])
                          }
                        }
                        next[0] = select(stage == 2, 0, stage + 1)
                        parity[0] = parity[0] ^ i32(stage == 2)
                      }
                      wgmma.wait(0)
                      for one in 1 [elect = 1] {
                        mbarrier.arrive(&empty[select(next[0] == 0, 2, next[0] + -1)])
                      }
                      tile.copy C[m * 64 +: 64, n * 32 +: 32] <- acc[0 +: 64, 0 +: 32]
                    }
                  }
                }
              }
            }
            """);
  }

  private static void runs(String text) {
    PrimFunc program = FlowPrograms.parse(text);
    Arguments arguments = Arguments.random(program.params(), 3);
    for (Options.Order order : Options.Order.values()) {
      Interpreter.of(program, Options.CHECKED.withOrder(order, 3)).run(arguments);
    }
  }

  private static void fails(String text, String from, String to, String why) {
    String wrong = text.replace(from, to);
    assertThat(wrong).isNotEqualTo(text);
    assertThatThrownBy(() -> runs(wrong))
        .isInstanceOf(SimulationError.class)
        .hasMessageContaining(why);
  }

  /** Mistakes with barriers are found while tiles are tiles. */
  @Test
  void mistakesWithBarriersAreFound() {
    String text = texts(GEMM).get("LowerPipes");
    runs(text);
    fails(text, "mbarrier.wait(&full[stage], parity[0])\n", "", "As");
    fails(text, "mbarrier.wait(&empty[stage], parity[0] ^ 1)\n", "", "seen the end");
    fails(
        text,
        "mbarrier.arrive(&empty[select(stage == 0, 2, stage + -1)])",
        "wgmma.wait(0)",
        "waits for");
    fails(text, "expect_tx(&full[stage], 12288)", "expect_tx(&full[stage], 12290)", "waits for");
    fails(
        text, "expect_tx(&full[stage], 12288)", "expect_tx(&full[stage], 8192)", "does not expect");
    fails(text, "mbarrier.init(&empty[s], 1)", "mbarrier.init(&empty[s], 2)", "waits for");
    String arrive = "mbarrier.arrive(&empty[select(stage == 0, 2, stage + -1)])";
    fails(text, arrive, arrive + "\n" + arrive, "before anybody has seen");
  }

  /** Two GEMMs, the second's operand in registers, their tiles through one ring. */
  private static final String CHAIN =
      """
      primfunc chain(A: f16[200, 136], W: f16[64, 136], V: f16[64, 64], C: f16[200, 64])
          [consumers = 2, share = "rows"] {
        bind bx: blockIdx.x in 1 {
          persistent t in 2 {
            alloc acc: f32[128, 64] fragment
            alloc sums: f32[128, 64] fragment
            alloc h: f16[128, 64] fragment
            alloc As: f16[128, 64] shared
            alloc Ws: f16[64, 64] shared
            alloc Vs: f16[64, 64] shared
            alloc Cs: f16[128, 64] shared
            tile.fill acc[0 +: 128, 0 +: 64] = 0.0f32
            pipeline k in 3 [hold = 1, stages = 4] {
              tile.copy As[0 +: 128, 0 +: 64] <- A[t * 128 +: 128, k * 64 +: 64]
              tile.copy Ws[0 +: 64, 0 +: 64] <- W[0 +: 64, k * 64 +: 64]
              tile.mma acc[0 +: 128, 0 +: 64] += As[0 +: 128, 0 +: 64] * Ws[0 +: 64, 0 +: 64]^T
                [inflight = 1, instr = "wgmma.m64n64k16.f32.f16"]
            }
            tile.map (i in 128, j in 64) { h[i, j] = f16(max(acc[i, j], 0.0f32)) }
            tile.fill sums[0 +: 128, 0 +: 64] = 0.0f32
            pipeline k in 1 [hold = 1, stages = 4] {
              tile.copy Vs[0 +: 64, 0 +: 64] <- V[0 +: 64, k * 64 +: 64]
              tile.mma sums[0 +: 128, 0 +: 64] += h[0 +: 128, k * 64 +: 64] * Vs[0 +: 64, 0 +: 64]^T
                [inflight = 1, instr = "wgmma.m64n64k16.f32.f16.ra"]
            }
            tile.map (i in 128, j in 64) { Cs[i, j] = f16(sums[i, j]) }
            tile.copy C[t * 128 +: 128, 0 +: 64] <- Cs[0 +: 128, 0 +: 64]
          }
        }
      }
      """;

  @Test
  void twoGemmsThroughOneRing() {
    PrimFunc func = FlowPrograms.parse(CHAIN);
    Map<String, String> texts = texts(func);
    assertThat(texts.get("PlanPipes")).containsOnlyOnce("pipe ");
    // Four stages and four steps an item, each phase in turn: bits of one number.
    assertThat(texts.get("LowerPipes")).doesNotContain("parity");
    Kernel kernel = LoweringTest.lowered(func);
    // One step is not under way beyond itself.
    assertThat(IrPrinter.text(kernel)).containsOnlyOnce("wgmma.wait(1)");
    LoweringTest.assertComputes(func, kernel, "C", Map.of());
  }

  /** Rows that no tensor map describes: all threads of the producer copy, some steps ahead. */
  @Test
  void twoGemmsWhoseWeightsThreadsCopy() {
    for (long columns : new long[] {135, 134}) {
      PrimFunc func = FlowPrograms.parse(CHAIN.replace("[64, 136]", "[64, " + columns + "]"));
      Map<String, String> texts = new HashMap<>();
      Kernel kernel =
          Lowering.lower(func, GpuTarget.SM_90A, (pass, text) -> texts.put(pass, text.get()));
      assertThat(texts.get("ChooseMovement"))
          .contains(columns == 135 ? "[by = \"registers\"]" : "[by = \"cp.async\", inflight = 2]");
      LoweringTest.assertComputes(func, kernel, "C", Map.of());
    }
  }

  /** Rows of 71 elements, which no tensor map describes, and weights that stay. */
  private static final String BESIDE =
      """
      primfunc beside(A: f16[136, 71], B: f16[32, 71], G: f16[32, 71], W: f16[32, 32], C: f16[136, 32])
          [consumers = 2, resident = 16384, share = "rows"] {
        bind bx: blockIdx.x in 2 {
          persistent item in (2 - bx + 1) / 2 {
            let m: i32 = bx + item * 2
            alloc As: f16[128, 64] shared
            alloc Bs: f16[32, 64] shared
            alloc acc: f32[128, 32] fragment
            alloc Gs: f16[32, 64] shared
            alloc gate: f32[128, 32] fragment
            alloc h: f16[128, 32] fragment
            alloc Ws: f16[32, 32] shared
            tile.fill acc[0 +: 128, 0 +: 32] = 0.0f32
            tile.fill gate[0 +: 128, 0 +: 32] = 0.0f32
            pipeline k in (71 + 63) / 64 [hold = 0, stages = 1] {
              tile.copy As[0 +: 128, 0 +: 64] <- A[m * 128 +: 128, k * 64 +: 64]
              tile.copy Bs[0 +: 32, 0 +: 64] <- B[0 +: 32, k * 64 +: 64]
              tile.copy Gs[0 +: 32, 0 +: 64] <- G[0 +: 32, k * 64 +: 64]
              tile.mma acc[0 +: 128, 0 +: 32] += As[0 +: 128, 0 +: 64] * Bs[0 +: 32, 0 +: 64]^T
                [instr = "wgmma.m64n32k16.f32.f16"]
              tile.mma gate[0 +: 128, 0 +: 32] += As[0 +: 128, 0 +: 64] * Gs[0 +: 32, 0 +: 64]^T
                [instr = "wgmma.m64n32k16.f32.f16"]
            }
            tile.map (r in 128, j in 32) {
              h[r, j] = f16(select(gate[r, j] <= 0.0f32, 0.5f32, acc[r, j]))
            }
            tile.fill acc[0 +: 128, 0 +: 32] = 0.0f32
            pipeline k in 1 [hold = 1, stages = 3] {
              tile.copy Ws[0 +: 32, 0 +: 32] <- W[0 +: 32, k * 32 +: 32]
              tile.mma acc[0 +: 128, 0 +: 32] += h[0 +: 128, k * 32 +: 32] * Ws[0 +: 32, 0 +: 32]^T
                [inflight = 1, instr = "wgmma.m64n32k16.f32.f16.ra"]
            }
            tile.copy C[m * 128 +: 128, 0 +: 32] <- acc[0 +: 128, 0 +: 32]
          }
        }
      }
      """;

  /** Beside rows that all threads of the producer copy, one thread brings what stays. */
  @Test
  void whatStaysIsBroughtByOneThreadOfThoseThatCopy() {
    PrimFunc func = FlowPrograms.parse(BESIDE);
    Map<String, String> texts = texts(func);
    assertThat(texts.get("PlanPipes")).contains("pipe kept");
    assertThat(texts.get("ChooseMovement"))
        .contains("by = \"registers\"")
        .contains("by = \"bulk\"");
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "C", Map.of());
  }

  private static void refused(String text, String why) {
    PrimFunc func = FlowPrograms.parse(text);
    assertThatThrownBy(() -> Lowering.lower(func, GpuTarget.SM_90A))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining(why)
        .hasMessageNotContaining("\n");
  }

  @Test
  void whatIsRefused() {
    assertThatThrownBy(() -> Lowering.lower(GEMM, GpuTarget.SM_80))
        .isInstanceOf(LoweringException.class)
        .hasMessage("sm_80 has no TMA copies and wgmma, which pipes are lowered to");
    refused(CHAIN.replace("share = \"rows\"", "share = \"items\""), "stages are skipped");
    refused(CHAIN.replace("stages = 4", "stages = 12"), "chain needs 311");
    refused(
        CHAIN.replace("consumers = 2, share = \"rows\"", "resident = 0"),
        "chain has no roles, but pipes in shared memory need one that fills them");
  }

  /** Two instances with items of their own; what one has no item for goes by. */
  private static final String DEALT =
      """
      primfunc dealt(A: f16[192, 64], W: f16[32, 64], C: f16[192, 32])
          [consumers = 2, share = "items", resident = 0] {
        bind bx: blockIdx.x in 1 {
          persistent m in 3 {
            alloc x: f16[64, 64] fragment
            alloc acc: f32[64, 32] fragment
            tile.copy x[0 +: 64, 0 +: 64] <- A[m * 64 +: 64, 0 +: 64]
            tile.fill acc[0 +: 64, 0 +: 32] = 0.0f32
            pipeline k in 2 [hold = 1, stages = 3] {
              alloc Ws: f16[32, 32] shared
              tile.copy Ws[0 +: 32, 0 +: 32] <- W[0 +: 32, k * 32 +: 32]
              tile.mma acc[0 +: 64, 0 +: 32] += x[0 +: 64, k * 32 +: 32] * Ws[0 +: 32, 0 +: 32]^T
                [inflight = 1, instr = "wgmma.m64n32k16.f32.f16.ra"]
            }
            alloc out: f16[64, 32] fragment
            tile.map (i in 64, j in 32) { out[i, j] = f16(acc[i, j]) }
            tile.copy C[m * 64 +: 64, 0 +: 32] <- out[0 +: 64, 0 +: 32]
          }
        }
      }
      """;

  /** A stage that goes by is given back once, also where products hold others for a step. */
  @Test
  void whatGoesByIsGivenBackOnce() {
    PrimFunc func = FlowPrograms.parse(DEALT);
    assertThat(texts(func).get("LowerPipes")).contains("for rest in 2");
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "C", Map.of());
  }

  /** Weights that products read, all slices of one a stage: no loop of steps is left. */
  private static final String PRODUCT =
      """
      pipeline k in 3 [hold = 1, slices = 3, stages = 2, unrolled = 1] {
        alloc Ws$L: f16[32, 16] shared
        tile.copy Ws$L[0 +: 32, 0 +: 16] <- W$L[0 +: 32, k * 16 +: 16]
        tile.mma acc[0 +: 64, 0 +: 32] += x[0 +: 64, k * 16 +: 16] * Ws$L[0 +: 32, 0 +: 16]^T
          [inflight = 1, instr = "wgmma.m64n32k16.f32.f16.ra"]
      }
      """;

  /** Weights of the same ring that threads read. */
  private static final String MAP =
      """
      pipeline k in 1 [hold = 1, stages = 2, unrolled = 1] {
        alloc Ws$L: f16[32, 48] shared
        tile.copy Ws$L[0 +: 32, 0 +: 48] <- W$L[0 +: 32, k * 48 +: 48]
        tile.map (i in 64, j in 32) { acc[i, j] = acc[i, j] + f32(Ws$L[j, 3]) }
      }
      """;

  private static final String STRAIGHT =
      """
      primfunc straight(A: f16[$R, 48], $PARAMS C: f16[$R, 32])
          [consumers = $W, share = "items", resident = 0] {
        bind bx: blockIdx.x in 1 {
          persistent m in $ITEMS {
            alloc x: f16[64, 48] fragment
            alloc acc: f32[64, 32] fragment
            tile.copy x[0 +: 64, 0 +: 48] <- A[m * 64 +: 64, 0 +: 48]
            tile.fill acc[0 +: 64, 0 +: 32] = 0.0f32
            $CODE
            alloc out: f16[64, 32] fragment
            tile.map (i in 64, j in 32) { out[i, j] = f16(acc[i, j]) }
            tile.copy C[m * 64 +: 64, 0 +: 32] <- out[0 +: 64, 0 +: 32]
          }
        }
      }
      """;

  /** An item of layers: p for weights that a product reads, m for those that threads read. */
  private static PrimFunc straight(int items, String layers, int consumers) {
    StringBuilder params = new StringBuilder();
    StringBuilder code = new StringBuilder();
    for (int i = 0; i < layers.length(); i++) {
      Map<String, Object> values = Map.of("L", i);
      params.append(FlowPrograms.fill("W$L: f16[32, 48], ", values));
      code.append(FlowPrograms.fill(layers.charAt(i) == 'p' ? PRODUCT : MAP, values));
    }
    Map<String, Object> values =
        Map.ofEntries(
            Map.entry("R", items * 64),
            Map.entry("ITEMS", items),
            Map.entry("W", consumers),
            Map.entry("PARAMS", params),
            Map.entry("CODE", code));
    return FlowPrograms.parse(FlowPrograms.fill(STRAIGHT, values));
  }

  /**
   * What an item's last site holds is given back at the next one, wherever that is: in the next
   * item, also where an item is whole turns of the ring, so that each begins with number 0; or
   * where the other instance's last item goes by, unless that is the first of all.
   */
  @ParameterizedTest
  @CsvSource({
    "3,pppp,1",
    "3,ppp,2",
    "3,pppp,2",
    "5,pp,2",
    "1,pppp,2",
    "2,ppp,1",
    "3,ppmp,2",
    "3,mp,1"
  })
  void whatIsHeldOverItemsIsGivenBackOnce(int items, String layers, int consumers) {
    PrimFunc func = straight(items, layers, consumers);
    String lowered = texts(func).get("LowerPipes");
    assertThat(lowered).contains("wgmma.wait(1)").doesNotContain("k in 3");
    assertThat(lowered.contains("for rest in " + layers.length())).isEqualTo(consumers > 1);
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "C", Map.of());
  }

  /** Extents of loops that are to be unrolled become constants, or are refused. */
  @Test
  void unrolledLoopsHaveConstantExtents() {
    String unrolled =
        CHAIN.replace("k in 3 [hold = 1", "k in (136 + 63) / 64 [unrolled = 1, hold = 1");
    PrimFunc func = FlowPrograms.parse(unrolled);
    assertThat(texts(func).get("PlanPipes")).contains("unroll k in 3 {");
    PrimFunc unknown =
        FlowPrograms.parse(
            unrolled
                .replace("C: f16[200, 64])", "C: f16[200, 64], n: i32 in 1..4)")
                .replace("k in (136 + 63) / 64", "k in n"));
    assertThatThrownBy(() -> Lowering.lower(unknown, GpuTarget.SM_90A))
        .isInstanceOf(PassRefusal.class)
        .hasMessageContaining("how often it runs is not constant");
  }

  /** The second GEMM's weights have rows of 16 elements, the first one's tiles of 64. */
  private static final String NARROW =
      """
      primfunc narrow(A: f16[64, 136], W: f16[16, 136], V: f16[64, 16], C: f16[64, 64])
          [consumers = 1, share = "rows"] {
        bind m: blockIdx.x in 1 {
          alloc acc: f32[64, 16] fragment
          alloc sums: f32[64, 64] fragment
          alloc h: f16[64, 16] fragment
          alloc As: f16[64, 64] shared
          alloc Ws: f16[16, 64] shared
          alloc Vs: f16[64, 16] shared
          tile.fill acc[0 +: 64, 0 +: 16] = 0.0f32
          pipeline k in 3 [stages = 3] {
            tile.copy As[0 +: 64, 0 +: 64] <- A[m * 64 +: 64, k * 64 +: 64]
            tile.copy Ws[0 +: 16, 0 +: 64] <- W[0 +: 16, k * 64 +: 64]
            tile.mma acc[0 +: 64, 0 +: 16] += As[0 +: 64, 0 +: 64] * Ws[0 +: 16, 0 +: 64]^T
              [instr = "wgmma.m64n16k16.f32.f16"]
          }
          tile.map (i in 64, j in 16) { h[i, j] = f16(max(acc[i, j], 0.0f32)) }
          tile.fill sums[0 +: 64, 0 +: 64] = 0.0f32
          pipeline k in 1 [stages = 3] {
            tile.copy Vs[0 +: 64, 0 +: 16] <- V[0 +: 64, k * 16 +: 16]
            tile.mma sums[0 +: 64, 0 +: 64] += h[0 +: 64, 0 +: 16] * Vs[0 +: 64, 0 +: 16]^T
              [instr = "wgmma.m64n64k16.f32.f16.ra"]
          }
          tile.copy C[m * 64 +: 64, 0 +: 64] <- sums[0 +: 64, 0 +: 64]
        }
      }
      """;

  /** Tiles of 16 columns lie in panels of their own, not in a part of those of 64. */
  @Test
  void tilesSharePlacesThatTheyFill() {
    PrimFunc func = FlowPrograms.parse(NARROW);
    assertThat(texts(func).get("PlanPipes")).contains("pipe ring_1");
    LoweringTest.assertComputes(func, LoweringTest.lowered(func), "C", Map.of());
  }
}
