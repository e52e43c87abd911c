package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.target.GpuTarget;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Networks in f32 by warps with shared memory of their own: each pass computes the same. */
class SimtWarpLoweringTest {
  private static final KernelCounters.Caches CACHES =
      new KernelCounters.Caches(64 << 10, 1 << 20, 16);

  private static final String LAYER =
      """
      tile.fill acc$L[0 +: $R, 0 +: $N] = 0.0f32
      pipeline k in 1 [stages = 1, unrolled = 1] {
        alloc Ws$L: f32[$K, $N] shared
        tile.copy Ws$L[0 +: $K, 0 +: $N] <- W$L[k * $K +: $K, 0 +: $N]
        tile.mma acc$L[0 +: $R, 0 +: $N] += h$P[0 +: $R, k * $K +: $K] * Ws$L[0 +: $K, 0 +: $N]
          [instr = "fma", threadsM = $D, threadsN = $A, unrollK = 4, vec = 4, vecM = 4]
      }
      tile.map (r in $R, n in $N) {
        h$L[r, n] = $F
      }
      """;

  /** A network of these widths whose formulas have a constant each. */
  private static PrimFunc network(
      List<Integer> widths, List<String> constants, int rows, int warps) {
    StringBuilder params = new StringBuilder();
    StringBuilder allocs =
        new StringBuilder("alloc h0: f32[" + rows + ", " + widths.getFirst() + "] shared\n");
    StringBuilder layers = new StringBuilder();
    int resident = 0;
    int last = widths.size() - 1;
    for (int l = 1; l <= last; l++) {
      int n = widths.get(l);
      int k = widths.get(l - 1);
      int across = n % 32 == 0 ? 8 : 4;
      resident += 4 * n * k;
      Map<String, Object> values =
          Map.of(
              "L",
              l,
              "P",
              l - 1,
              "N",
              n,
              "K",
              k,
              "A",
              across,
              "D",
              32 / across,
              "R",
              rows,
              "F",
              formula(constants.get(l - 1), l),
              "S",
              l == last ? "fragment" : "shared");
      params.append(FlowPrograms.fill("W$L: f32[$K, $N], b$L: f32[$N], ", values));
      allocs.append(
          FlowPrograms.fill(
              "alloc acc$L: f32[$R, $N] fragment\nalloc h$L: f32[$R, $N] $S\n", values));
      layers.append(FlowPrograms.fill(LAYER, values));
    }
    String text =
        "primfunc f(x: f32[M, $I], "
            + params
            + "y: f32[M, $O], M: i32 in 0..4096) [consumers = $W, warps = 1, resident = $B] {\n"
            + "persistent t in (M + $R - 1) / $R [blocks = 2] {\n"
            + allocs
            + "tile.copy h0[0 +: $R, 0 +: $I] <- x[t * $R +: $R, 0 +: $I]\n"
            + layers
            + "tile.copy y[t * $R +: $R, 0 +: $O] <- h$Z[0 +: $R, 0 +: $O]\n} }\n";
    return FlowPrograms.parse(
        FlowPrograms.fill(
            text,
            Map.of(
                "R",
                rows,
                "I",
                widths.getFirst(),
                "O",
                widths.getLast(),
                "W",
                warps,
                "B",
                resident,
                "Z",
                last)));
  }

  /** Cut off at zero as networks are, or at a constant behind a bias. */
  private static String formula(String constant, int layer) {
    String sum = FlowPrograms.fill("acc$L[r, n]", Map.of("L", layer));
    return constant.equals("0.0f32")
        ? "select(" + sum + " < 0.0f32, 0.0f32, " + sum + ")"
        : "max(" + sum + " + b" + layer + "[n], " + constant + ")";
  }

  private static List<Integer> widths(String text) {
    return Pattern.compile(" ").splitAsStream(text.strip()).map(Integer::valueOf).toList();
  }

  private static List<String> constants(String text) {
    return Pattern.compile(" ").splitAsStream(text.strip()).map(c -> c + ".0f32").toList();
  }

  /**
   * Loops of all layers, of some in the middle, of none because formulas or widths differ; rows
   * that fill no tile, and warps without any.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "32 32 32 32 32    | -3 -3 -3 0  | 32 | 2 | 70  | 4",
        "16 32 32 32 48    | -3 -3 -3 0  | 32 | 3 | 65  | 2",
        "32 32 32 32 32 32 | -3 -3 0 0 0 | 32 | 2 | 70  | 3",
        "32 64 32 64       | -3 -3 -3    | 16 | 1 | 33  | 0",
        "64 64 64          | -3 0        | 48 | 2 | 1   | 2",
        "64 32             | -3          | 32 | 4 | 40  | 0"
      })
  void computesTheSame(
      String widths, String constants, int rows, int warps, long total, int rolled) {
    PrimFunc func = network(widths(widths), constants(constants), rows, warps);
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Arguments expected = LoweringTest.exact(func.params(), Map.of("M", total));
    Interpreter.of(func, Options.CHECKED).run(expected);
    Map<String, String> passes = new LinkedHashMap<>();
    Kernel kernel =
        Lowering.lower(
            func,
            GpuTarget.SM_80,
            (pass, text) -> {
              passes.put(pass, text.get());
              if (pass.equals("LowerTiles") || pass.equals("Simplify")) {
                return;
              }
              PrimFunc program = FlowPrograms.parse(text.get());
              assertThat(IrPrinter.text(program)).isEqualTo(text.get());
              assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text.get()).isEmpty();
              Arguments arguments = LoweringTest.exact(program.params(), Map.of("M", total));
              arguments.get("y").poison();
              Interpreter.of(program, Options.CHECKED.withOrder(Options.Order.SHUFFLED, 5))
                  .run(arguments);
              assertThat(arguments.get("y").sameBits(expected.get("y")))
                  .as("%s:%n%s", pass, text.get())
                  .isTrue();
            });
    if (rolled == 0) {
      assertThat(passes).doesNotContainKey("RollLayers");
    } else {
      assertThat(passes.get("RollLayers")).contains("for layer in " + rolled);
    }
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    if (constants.contains(" 0 ")) {
      assertThat(IrPrinter.text(kernel)).contains("relu.f32(");
    }
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 2),
            GridOptions.random(7))) {
      Arguments arguments = LoweringTest.exact(kernel.params(), Map.of("M", total));
      arguments.get("y").poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s: %s", options, IrPrinter.text(kernel))
          .isEmpty();
      assertThat(arguments.get("y").sameBits(expected.get("y")))
          .as("first at %s", arguments.get("y").difference(expected.get("y")))
          .isTrue();
    }
  }

  /** Rows, weights and activations come and go by 16 bytes a lane, without bank conflicts. */
  @Test
  void nothingMeetsInABank() {
    Kernel kernel =
        Lowering.lower(
            network(List.of(64, 64, 64), List.of("0.0f32", "0.0f32"), 32, 2), GpuTarget.SM_80);
    long rows = 2 * 2 * 32;
    Arguments arguments = LoweringTest.exact(kernel.params(), Map.of("M", rows));
    KernelCounters counted =
        new GridInterpreter(kernel, GridOptions.counting(2)).count(arguments, CACHES);
    assertThat(counted.sharedLoads().lost()).isZero();
    assertThat(counted.sharedStores().lost()).isZero();
    assertThat(counted.globalLoads().lost()).isZero();
    assertThat(counted.globalStores().lost()).isZero();
    assertThat(IrPrinter.text(kernel)).containsOnlyOnce("sync_threads()");
  }

  /** Rows that are no whole 16 bytes come element by element, eight of a lane at once. */
  @ParameterizedTest
  @CsvSource({"29, 70", "2, 64", "31, 1"})
  void oddRowsComeInBatches(int columns, long total) {
    String whole =
        IrPrinter.text(network(List.of(32, 32, 32), List.of("-3.0f32", "0.0f32"), 32, 2));
    String odd =
        whole
            .replace("x: f32[M, 32]", "x: f32[M, " + columns + "]")
            .replaceFirst(
                "tile\\.copy h0\\[[^\\n]*",
                "tile.map (v0 in 32, v1 in 32) { h0[v0, v1] = select(t * 32 + v0 < M, select(v1 < "
                    + columns
                    + ", x[t * 32 + v0, v1], 0.0f32), 0.0f32) }");
    PrimFunc func = FlowPrograms.parse(odd);
    Arguments expected = LoweringTest.exact(func.params(), Map.of("M", total));
    Interpreter.of(func, Options.CHECKED).run(expected);
    Kernel kernel = Lowering.lower(func, GpuTarget.SM_80);
    assertThat(IrPrinter.text(kernel)).contains("alloc loaded: f32[8] local", "for batch in 4");
    Arguments arguments = LoweringTest.exact(kernel.params(), Map.of("M", total));
    arguments.get("y").poison();
    assertThat(new GridInterpreter(kernel, GridOptions.random(7)).check(arguments)).isEmpty();
    assertThat(arguments.get("y").sameBits(expected.get("y"))).isTrue();
  }

  /** More than shared memory is refused by its name. */
  @Test
  void whatDoesNotFitIsRefused() {
    PrimFunc large = network(List.of(128, 128, 128), List.of("0.0f32", "0.0f32"), 32, 8);
    assertThatThrownBy(() -> Lowering.lower(large, GpuTarget.SM_86))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining("of shared memory")
        .hasMessageContaining("what role math allocates");
  }
}
