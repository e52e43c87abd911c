package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkList;
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
import java.util.ArrayList;
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
    for (GridOptions options : LoweringTest.WAYS) {
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

  /** Behind each pass up to threads the program computes the same, in any order of its blocks. */
  @ParameterizedTest
  @CsvSource({
    "264,40,136, 128,32,64, 3, 2, 2, 1,1, whole",
    "200,40,136, 64,32,64, 4, 4, 1, 2,1, whole",
    "264,72,72, 128,32,64, 3, 4, 2, 2,2, whole",
    "72,40,328, 64,32,64, 4, 3, 1, 1,1, parts:2",
    "72,72,328, 64,32,64, 3, 4, 1, 1,2, stream:0",
    "72,40,456, 64,32,64, 3, 5, 1, 1,1, parts:3",
    "136,40,201, 128,32,64, 4, 2, 2, 1,1, whole",
    "72,40,134, 64,32,64, 3, 2, 1, 1,1, whole",
    "72,40,134, 64,32,64, 2, 2, 1, 1,1, whole"
  })
  void everyPassComputes(
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
      int clusterN,
      String division) {
    String attrs =
        String.format(
            Locale.ROOT,
            "clusterM = %d, clusterN = %d, consumers = %d, producers = 1",
            clusterM,
            clusterN,
            consumers);
    String text = IrPrinter.text(gemm(m, n, k, tm, tn, tk, stages, blocks, attrs));
    PrimFunc func =
        FlowPrograms.parse(
            division.equals("whole")
                ? text
                : text.replace("order = ", "division = \"" + division + "\", order = "));
    assertThat(Verifier.verify(func)).isEmpty();
    List<Integer> table =
        table(
            division,
            Math.ceilDiv(m, tm * clusterM),
            Math.ceilDiv(n, tn * clusterN),
            Math.ceilDiv(k, tk),
            blocks / (clusterM * clusterN));
    Arguments expected = LoweringTest.exact(func.params(), Map.of());
    Interpreter.of(func, Options.CHECKED).run(expected);
    List<String> passes = new ArrayList<>();
    Kernel kernel =
        Lowering.lower(
            func,
            GpuTarget.SM_90A,
            (pass, program) -> {
              passes.add(pass);
              switch (pass) {
                case "DistributeWork" ->
                    computes(pass, program.get(), table, expected, Options.Order.SHUFFLED);
                case "LowerPipes" ->
                    computes(pass, program.get(), table, expected, Options.Order.REVERSE);
                // Those in between have tests of their own.
                default -> {}
              }
            });
    assertThat(passes).startsWith("DistributeWork").contains("LowerPipes");
    Arguments arguments = withTable(LoweringTest.exact(kernel.params(), Map.of()), table);
    if (kernel.attrs().has("zero")) {
      arguments.get("counters").fill(0);
    }
    arguments.get("C").poison();
    assertThat(new GridInterpreter(kernel, GridOptions.random(SEED)).check(arguments)).isEmpty();
    assertThat(arguments.get("C").sameBits(expected.get("C"))).isTrue();
  }

  private static List<Integer> table(
      String division, int rows, int columns, int steps, int workers) {
    BlockOrder order = new BlockOrder.Grouped(8);
    return division.equals("whole")
        ? order.tiles(rows, columns).stream().map(t -> t.m() << 16 | t.n()).toList()
        : WorkList.of(WorkDivision.parse(division), order, rows, columns, steps, workers).table();
  }

  private static Arguments withTable(Arguments arguments, List<Integer> table) {
    for (int i = 0; i < table.size(); i++) {
      arguments.get("order").setIntegerElement(i, table.get(i));
    }
    return arguments;
  }

  private static void computes(
      String pass, String text, List<Integer> table, Arguments expected, Options.Order order) {
    PrimFunc program = FlowPrograms.parse(text);
    assertThat(IrPrinter.text(program)).isEqualTo(text);
    assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text).isEmpty();
    Arguments arguments = withTable(LoweringTest.exact(program.params(), Map.of()), table);
    arguments.get("C").poison();
    Interpreter.of(program, Options.CHECKED.withOrder(order, SEED)).run(arguments);
    assertThat(arguments.get("C").sameBits(expected.get("C")))
        .as("%s, %s:%n%s", pass, order, text)
        .isTrue();
  }
}
