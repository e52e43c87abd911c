package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tile programs of warpgroup products, lowered and executed beside the tile program itself. */
class DistributedGemmTest {
  private static final long SEED = Long.getLong("seed", 77);

  /** A persistent product with a staged epilogue; sizes by placeholder. */
  private static final String GEMM =
      """
      primfunc gemm(A: bf16[$M, $K], B: bf16[$N, $K], C: bf16[$M, $N]) [$ATTRS] {
        persistent t in $TILES [blocks = $BLOCKS, order = "grouped:8"] {
          alloc acc: f32[$TM, $TN] fragment
          tile.fill acc[0 +: $TM, 0 +: $TN] = 0.0f32
          pipeline k in ($K + $TK - 1) / $TK [stages = $STAGES] {
            alloc As: bf16[$TM, $TK] shared
            alloc Bs: bf16[$TN, $TK] shared
            tile.copy As[0 +: $TM, 0 +: $TK] <- A[t / $NT * $TM +: $TM, k * $TK +: $TK] [multicast = "true"]
            tile.copy Bs[0 +: $TN, 0 +: $TK] <- B[t % $NT * $TN +: $TN, k * $TK +: $TK] [multicast = "true"]
            tile.mma acc[0 +: $TM, 0 +: $TN] += As[0 +: $TM, 0 +: $TK] * Bs[0 +: $TN, 0 +: $TK]^T
              [instr = "wgmma.m64n$TNk16.f32.bf16"]
          }
          alloc Cs: bf16[$TM, $TN] shared
          tile.map (i in $TM, j in $TN) {
            Cs[i, j] = bf16(max(acc[i, j], -1.0f32))
          }
          tile.copy C[t / $NT * $TM +: $TM, t % $NT * $TN +: $TN] <- Cs[0 +: $TM, 0 +: $TN]
        }
      }
      """;

  static PrimFunc gemm(
      int m, int n, int k, int tm, int tn, int tk, int stages, int blocks, String attrs) {
    int nt = Math.ceilDiv(n, tn);
    String text = GEMM;
    for (Map.Entry<String, String> e :
        List.of(
            Map.entry("$TILES", "" + Math.ceilDiv(m, tm) * nt),
            Map.entry("$STAGES", "" + stages),
            Map.entry("$BLOCKS", "" + blocks),
            Map.entry("$ATTRS", attrs),
            Map.entry("$TM", "" + tm),
            Map.entry("$TN", "" + tn),
            Map.entry("$TK", "" + tk),
            Map.entry("$NT", "" + nt),
            Map.entry("$M", "" + m),
            Map.entry("$N", "" + n),
            Map.entry("$K", "" + k))) {
      text = text.replace(e.getKey(), e.getValue());
    }
    return new IrParser(Intrinsics::find).primFunc("test", text);
  }

  @ParameterizedTest
  @CsvSource({
    "128,256,320, 128,256,64, 3, 1, 2, 1,1",
    "264,264,136, 128,256,64, 2, 2, 2, 2,1",
    "100,328,72, 64,112,64, 3, 2, 1, 1,1",
    "72,200,200, 64,96,128, 2, 2, 1, 1,2",
    "192,104,72, 192,104,32, 3, 1, 3, 1,1",
    "272,192,136, 256,64,64, 3, 2, 2, 1,2"
  })
  void computesWhatTheTileProgramComputes(
      int m,
      int n,
      int k,
      int tm,
      int tn,
      int tk,
      int stages,
      int blocks,
      int consumers,
      int clusterM,
      int clusterN) {
    String attrs =
        String.format(
            Locale.ROOT,
            "clusterM = %d, clusterN = %d, consumers = %d, producers = 1, workload = \"gemm_nt\"",
            clusterM,
            clusterN,
            consumers);
    PrimFunc func = gemm(m, n, k, tm, tn, tk, stages, blocks, attrs);
    assertThat(Verifier.verify(func)).isEmpty();
    Kernel kernel = Lowering.lower(func, GpuTarget.SM_90A);
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    Arguments expected = Arguments.random(func.params(), SEED);
    Interpreter.of(func, Options.CHECKED).run(expected);
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 4),
            GridOptions.random(SEED))) {
      Arguments arguments = Arguments.random(kernel.params(), SEED);
      List<BlockOrder.Tile> tiles =
          new BlockOrder.Grouped(8)
              .tiles(Math.ceilDiv(m, tm * clusterM), Math.ceilDiv(n, tn * clusterN));
      for (int t = 0; t < tiles.size(); t++) {
        arguments
            .get("order")
            .setIntegerElement(t, (long) tiles.get(t).m() << 16 | tiles.get(t).n());
      }
      arguments.get("C").poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments)).as("%s", options).isEmpty();
      Verification v = Verification.compare(arguments.get("C"), expected.get("C"));
      assertThat(v.within(4e-3)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }
}
