package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkList;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Blocks without roles: all threads fill rings, and multiply by mma.sync. */
class BlockLoweringTest {
  private static final long SEED = Long.getLong("seed", 77);

  /** What stands around tiles of 32 by 32: tiles, stages and types by placeholder. */
  private static final String GEMM =
      """
      primfunc gemm(A: f16[$M, $K], B: f16[$N, $K], C: f16[$M, $N]) [threads = 64$ATTRS] {
        $LOOP {
          alloc As: f16[32, 32] shared
          alloc Bs: f16[32, 32] shared
          alloc Cs: f16[32, 32] shared
          alloc acc: f32[32, 32] fragment
          tile.fill acc[0 +: 32, 0 +: 32] = 0.0f32
          pipeline k in ($K + 31) / 32 [stages = $STAGES] {
            tile.copy As[0 +: 32, 0 +: 32] <- A[t / $NT * 32 +: 32, k * 32 +: 32]
            tile.copy Bs[0 +: 32, 0 +: 32] <- B[t % $NT * 32 +: 32, k * 32 +: 32]
            tile.mma acc[0 +: 32, 0 +: 32] += As[0 +: 32, 0 +: 32] * Bs[0 +: 32, 0 +: 32]^T
              [instr = "mma.m16n8k16.f32.f16", warpsM = 2, warpsN = 1]
          }
          tile.map (i in 32, j in 32) { Cs[i, j] = f16(max(acc[i, j], -1.0f32)) }
          tile.copy C[t / $NT * 32 +: 32, t % $NT * 32 +: 32] <- Cs[0 +: 32, 0 +: 32]
        }
      }
      """;

  private static String gemm(int m, int n, int k, int stages, String attrs, String loop) {
    String text = GEMM.replace("$LOOP", loop).replace("$ATTRS", attrs);
    int columns = Math.ceilDiv(n, 32);
    return text.replace("$TILES", "" + Math.ceilDiv(m, 32) * columns)
        .replace("$STAGES", "" + stages)
        .replace("$NT", "" + columns)
        .replace("$M", "" + m)
        .replace("$N", "" + n)
        .replace("$K", "" + k);
  }

  /** Items from a list, for three blocks. */
  static PrimFunc persistent(int m, int n, int k, int stages) {
    String loop = "persistent t in $TILES [blocks = 3, order = \"row\"]";
    return FlowPrograms.parse(gemm(m, n, k, stages, "", loop));
  }

  private static Arguments arguments(List<? extends Param> params, List<Integer> table) {
    Arguments arguments = LoweringTest.exact(params, Map.of());
    for (int i = 0; i < table.size(); i++) {
      arguments.get("order").setIntegerElement(i, table.get(i));
    }
    arguments.get("C").poison();
    return arguments;
  }

  /**
   * Executes the program, what each pass makes of it, and the kernel.
   *
   * @param table of the items, where they have one
   * @return the texts behind the passes
   */
  private static Map<String, String> computes(
      PrimFunc func, GpuTarget target, List<Integer> table) {
    assertThat(Verifier.verify(func)).isEmpty();
    Arguments expected = LoweringTest.exact(func.params(), Map.of());
    Interpreter.of(func, Options.CHECKED).run(expected);
    Map<String, String> texts = new LinkedHashMap<>();
    Kernel kernel = Lowering.lower(func, target, (pass, text) -> texts.put(pass, text.get()));
    Set<String> executed = new HashSet<>();
    texts.forEach(
        (pass, text) -> {
          // A pass that changes nothing leaves what has been executed.
          if (text.startsWith("kernel") || !executed.add(text)) {
            return;
          }
          PrimFunc program = FlowPrograms.parse(text);
          assertThat(IrPrinter.text(program)).isEqualTo(text);
          assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text).isEmpty();
          for (Options.Order order : List.of(Options.Order.REVERSE, Options.Order.SHUFFLED)) {
            Arguments arguments =
                arguments(program.params(), program.attrs().has("tileM") ? table : List.of());
            Interpreter.of(program, Options.CHECKED.withOrder(order, SEED)).run(arguments);
            assertThat(arguments.get("C").sameBits(expected.get("C")))
                .as("%s, %s:%n%s", pass, order, text)
                .isTrue();
          }
        });
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    for (GridOptions options : LoweringTest.WAYS) {
      Arguments arguments = arguments(kernel.params(), table);
      if (kernel.attrs().has("zero")) {
        arguments.get("counters").fill(0);
      }
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s:%n%s", options, IrPrinter.text(kernel))
          .isEmpty();
      assertThat(arguments.get("C").sameBits(expected.get("C"))).as("%s", options).isTrue();
    }
    return texts;
  }

  private static final String BOUND = "bind t: blockIdx.x in $TILES";

  /** Rows that are copied by 16 bytes, by 4, and through registers; fewer steps than stages. */
  @ParameterizedTest
  @CsvSource({
    "40,72,136, 3, 1",
    "40,40,136, 2, 1",
    "33,40,70, 4, 1",
    "40,33,77, 3, 1",
    "32,32,40, 4, 1",
    "40,40,104, 3, 0"
  })
  void aTileABlock(int m, int n, int k, int stages, int async) {
    String attrs = ", async = " + async;
    PrimFunc func = FlowPrograms.parse(gemm(m, n, k, stages, attrs, BOUND));
    Map<String, String> texts = computes(func, GpuTarget.SM_80, List.of());
    assertThat(texts.get("ChooseMovement"))
        .contains(async == 1 && k % 2 == 0 ? "by = \"cp.async\"" : "by = \"registers\"");
    assertThat(texts.get("LowerPipes")).contains("sync_threads()");
  }

  @ParameterizedTest
  @CsvSource({
    "72,72,104, 3, 3, whole",
    "72,40,104, 3, 4, stream:0",
    "40,40,205, 3, 0, parts:3",
  })
  void itemsFromAList(int m, int n, int k, int stages, int blocks, String division) {
    String loop =
        blocks == 0
            ? "bind t: blockIdx.x in $TILES [columns = $NT, order = \"row\"]"
            : "persistent t in $TILES [blocks = " + blocks + ", order = \"row\"]";
    boolean whole = division.equals("whole");
    String divided = whole ? loop : loop.replace("order", "division = \"" + division + "\", order");
    PrimFunc func = FlowPrograms.parse(gemm(m, n, k, stages, "", divided));
    BlockOrder order = new BlockOrder.Row();
    int rows = Math.ceilDiv(m, 32);
    int columns = Math.ceilDiv(n, 32);
    List<Integer> table =
        whole
            ? order.tiles(rows, columns).stream().map(t -> t.m() << 16 | t.n()).toList()
            : WorkList.of(
                    WorkDivision.parse(division),
                    order,
                    rows,
                    columns,
                    Math.ceilDiv(k, 32),
                    blocks == 0 ? rows * columns * 3 : blocks)
                .table();
    computes(func, GpuTarget.SM_80, table);
  }

  /**
   * Two pipelined loops of one item through one ring, the second one's rows not so aligned. The
   * last step of each reads a stage that whoever comes next fills first.
   */
  private static final String TWO =
      """
      primfunc two(A: f16[64, 104], B: f16[32, 104], D: f16[64, 102], E: f16[32, 102], C: f32[64, 32])
          [threads = 64] {
        bind bx: blockIdx.x in 1 {
          alloc As: f16[32, 32] shared
          alloc Bs: f16[32, 32] shared
          persistent t in 2 {
            alloc acc: f32[32, 32] fragment
            tile.fill acc[0 +: 32, 0 +: 32] = 0.0f32
            pipeline k in (104 + 31) / 32 [stages = 3] {
              tile.copy As[0 +: 32, 0 +: 32] <- A[t * 32 +: 32, k * 32 +: 32]
              tile.copy Bs[0 +: 32, 0 +: 32] <- B[0 +: 32, k * 32 +: 32]
              tile.mma acc[0 +: 32, 0 +: 32] += As[0 +: 32, 0 +: 32] * Bs[0 +: 32, 0 +: 32]^T
                [instr = "mma.m16n8k16.f32.f16", warpsM = 2, warpsN = 1]
            }
            pipeline k in (102 + 31) / 32 [stages = 3] {
              tile.copy As[0 +: 32, 0 +: 32] <- D[t * 32 +: 32, k * 32 +: 32]
              tile.copy Bs[0 +: 32, 0 +: 32] <- E[0 +: 32, k * 32 +: 32]
              tile.mma acc[0 +: 32, 0 +: 32] += As[0 +: 32, 0 +: 32] * Bs[0 +: 32, 0 +: 32]^T
                [instr = "mma.m16n8k16.f32.f16", warpsM = 2, warpsN = 1]
            }
            tile.copy C[t * 32 +: 32, 0 +: 32] <- acc[0 +: 32, 0 +: 32]
          }
        }
      }
      """;

  @Test
  void twoLoopsThroughOneRing() {
    Map<String, String> texts = computes(FlowPrograms.parse(TWO), GpuTarget.SM_80, List.of());
    assertThat(texts.get("PlanPipes")).containsOnlyOnce("pipe ");
    // In each of the steps of both, between the loops, and behind the item.
    assertThat(texts.get("LowerPipes").split("sync_threads\\(\\)", -1)).hasSize(5);
    assertThat(texts.get("Simplify")).contains("cp.async.16").contains("cp.async.4");
  }

  /** Whatever loop is around: its next round begins behind a barrier. */
  @Test
  void aLoopAroundThatIsNotPersistent() {
    String text = TWO.replace("persistent t", "for t");
    computes(FlowPrograms.parse(text), GpuTarget.SM_80, List.of());
  }

  @Test
  void theRingCountsStages() {
    PrimFunc func = FlowPrograms.parse(gemm(32, 32, 104, 3, "", BOUND));
    assertThat(computes(func, GpuTarget.SM_80, List.of()).get("LowerPipes"))
        .isEqualTo(
            """
            primfunc gemm(A: f16[32, 104], B: f16[32, 104], C: f16[32, 32]) [threads = 64] {
              bind t: blockIdx.x in 1 {
                alloc As: f16[3, 32, 32] shared layout (3:1024),(32:32),(32:1)^<2,3,3> align 512
                alloc Bs: f16[3, 32, 32] shared layout (3:1024),(32:32),(32:1)^<2,3,3> align 512
                alloc Cs: f16[32, 32] shared
                alloc acc: f32[32, 32] fragment
                tile.fill acc[0 +: 32, 0 +: 32] = 0.0f32
                unroll p in 2 {
                  if p < (104 + 31) / 32 {
                    tile.copy As[p, 0 +: 32, 0 +: 32] <- A[t / 1 * 32 +: 32, p * 32 +: 32] [by = "cp.async"]
                    tile.copy Bs[p, 0 +: 32, 0 +: 32] <- B[t % 1 * 32 +: 32, p * 32 +: 32] [by = "cp.async"]
                  }
                  cp.async.commit()
                }
                for step in (104 + 31) / 32 {
                  cp.async.wait(1)
                  sync_threads()
                  if step + 2 < (104 + 31) / 32 {
                    let filled: i32 = (step + 2) % 3
                    tile.copy As[filled, 0 +: 32, 0 +: 32] <- A[t / 1 * 32 +: 32, (step + 2) * 32 +: 32] [by = "cp.async"]
                    tile.copy Bs[filled, 0 +: 32, 0 +: 32] <- B[t % 1 * 32 +: 32, (step + 2) * 32 +: 32] [by = "cp.async"]
                  }
                  cp.async.commit()
                  tile.mma acc[0 +: 32, 0 +: 32] += As[step % 3, 0 +: 32, 0 +: 32] * Bs[step % 3, 0 +: 32, 0 +: 32]^T [instr = "mma.m16n8k16.f32.f16", warpsM = 2, warpsN = 1]
                }
                cp.async.wait(0)
                tile.map (i in 32, j in 32) {
                  Cs[i, j] = f16(max(acc[i, j], -1.0f32))
                }
                tile.copy C[t / 1 * 32 +: 32, t % 1 * 32 +: 32] <- Cs[0 +: 32, 0 +: 32]
              }
            }
            """);
  }

  private static void refused(String text, String why) {
    assertThatThrownBy(() -> Lowering.lower(FlowPrograms.parse(text), GpuTarget.SM_80))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining(why)
        .hasMessageNotContaining("\n");
  }

  @Test
  void whatIsRefused() {
    String one = gemm(32, 32, 104, 3, "", BOUND);
    refused(one.replace("stages = 3", "stages = 1"), "pipe ring has 1 stages in shared memory");
    refused(one.replace("[stages = 3]", "[stages = 90]"), "gemm needs 368640 bytes");
    refused(
        TWO.replaceFirst("(?s)(tile.mma acc.*?warpsN = 1\\])", "$1 $1"),
        "does more than copy tiles and multiply them once");
    refused(
        one.replace(
            "tile.map (i in 32, j in 32) { Cs",
            "tile.fill Cs[0 +: 32, 0 +: 32] = 0.0f16\n tile.map (i in 32, j in 32) { Cs"),
        "only whole fragments are filled");
  }
}
