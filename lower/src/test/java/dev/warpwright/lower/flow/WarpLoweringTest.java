package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.gpu.FragmentOrder;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Networks through the registers of warps: each pass, and the kernel, compute the same. */
class WarpLoweringTest {
  private static final KernelCounters.Caches CACHES =
      new KernelCounters.Caches(64 << 10, 1 << 20, 16);

  private static final String LAYER =
      """
      tile.fill acc$L[0 +: $R, 0 +: $N] = 0.0f32
      pipeline k in 1 [stages = 1, unrolled = 1] {
        alloc Ws$L: $T[$N, $K] shared
        tile.copy Ws$L[0 +: $N, 0 +: $K] <- W$L[0 +: $N, k * $K +: $K]
        tile.mma acc$L[0 +: $R, 0 +: $N] += h$P[0 +: $R, k * $K +: $K] * Ws$L[0 +: $N, 0 +: $K]^T
          [instr = "mma.m16n8k16.f32.$T"$PART]
      }
      tile.map (r in $R, n in $N) {
        h$L[r, n] = $T(max(acc$L[r, n] + b$L[n], -3.0f32))
      }
      """;

  /** A network of these widths; $part columns at a time where that divides them. */
  private static PrimFunc network(
      String type, List<Integer> widths, int rows, int warps, int part, boolean prefetch) {
    StringBuilder params = new StringBuilder();
    StringBuilder allocs = new StringBuilder();
    StringBuilder layers = new StringBuilder();
    int resident = 0;
    allocs.append("alloc h0: $T[$R, $I] fragment\n");
    for (int l = 1; l < widths.size(); l++) {
      int n = widths.get(l);
      int k = widths.get(l - 1);
      resident += 2 * n * k;
      Map<String, Object> values =
          Map.of(
              "L", l, "P", l - 1, "N", n, "K", k, "PART", n % part == 0 ? ", part = " + part : "");
      params.append(FlowPrograms.fill("W$L: $T[$N, $K], b$L: f32[$N], ", values));
      allocs.append(
          FlowPrograms.fill(
              "alloc acc$L: f32[$R, $N] fragment\nalloc h$L: $T[$R, $N] fragment\n", values));
      layers.append(FlowPrograms.fill(LAYER, values));
    }
    String text =
        "primfunc f(x: $T[M, $I], "
            + params
            + "y: $T[M, $O], M: i32 in 0..4096) [consumers = $W, warps = 1, resident = $S] {\n"
            + "persistent t in (M + $R - 1) / $R [blocks = 2] {\n"
            + allocs
            + "tile.copy h0[0 +: $R, 0 +: $I] <- x[t * $R +: $R, 0 +: $I] $F\n"
            + layers
            + "tile.copy y[t * $R +: $R, 0 +: $O] <- h$Z[0 +: $R, 0 +: $O]\n} }\n";
    return FlowPrograms.parse(
        FlowPrograms.fill(
            text,
            Map.of(
                "T",
                type,
                "R",
                rows,
                "I",
                widths.getFirst(),
                "O",
                widths.getLast(),
                "W",
                warps,
                "S",
                resident,
                "F",
                prefetch ? "[prefetch = 1]" : "",
                "Z",
                widths.size() - 1)));
  }

  private static List<Integer> widths(String text) {
    return Pattern.compile(" ").splitAsStream(text.strip()).map(Integer::valueOf).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "f16  | 64 48 64   | 32 | 2  | 32 | true  | true  | 150",
        "f16  | 32 128 48  | 32 | 3  | 64 | true  | true  | 65",
        "bf16 | 16 80 32   | 16 | 12 | 16 | false | true  | 33",
        "f16  | 48 96 16   | 48 | 2  | 32 | true  | true  | 100",
        "bf16 | 64 32      | 32 | 2  | 16 | false | false | 40", // weights that nobody packed
        "f16  | 32 32 32   | 16 | 1  | 16 | true  | true  | 1"
      })
  void computesTheSame(
      String type,
      String widths,
      int rows,
      int warps,
      int part,
      boolean prefetch,
      boolean pack,
      long total) {
    PrimFunc func = network(type, widths(widths), rows, warps, part, prefetch);
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Arguments expected = LoweringTest.exact(func.params(), Map.of("M", total));
    Interpreter.of(func, Options.CHECKED).run(expected);
    PackConstants.Packed packed =
        PackConstants.apply(func, pack ? FlowPrograms.constants(func) : Set.of());
    if (pack) {
      packed.packed().values().forEach(f -> assertThat(FragmentOrder.is(f.buffer())).isTrue());
      assertThat(packed.packed()).hasSize(widths(widths).size() - 1);
    }
    List<String> passes = new ArrayList<>();
    Kernel kernel =
        Lowering.lower(
            packed.func(),
            GpuTarget.SM_80,
            (pass, text) -> {
              passes.add(pass);
              if (pass.equals("LowerTiles") || pass.equals("Simplify")) {
                return;
              }
              PrimFunc program = FlowPrograms.parse(text.get());
              assertThat(IrPrinter.text(program)).isEqualTo(text.get());
              assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text.get()).isEmpty();
              Arguments arguments = FlowPrograms.packed(func, packed, program.params(), total);
              Interpreter.of(program, Options.CHECKED.withOrder(Options.Order.SHUFFLED, 5))
                  .run(arguments);
              assertThat(arguments.get("y").sameBits(expected.get("y")))
                  .as("%s:%n%s", pass, text.get())
                  .isTrue();
            });
    assertThat(passes).contains("SplitColumns", "ChooseMovement", "LowerPipes", "LowerTiles");
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 2),
            GridOptions.random(7))) {
      Arguments arguments = FlowPrograms.packed(func, packed, kernel.params(), total);
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s: %s", options, IrPrinter.text(kernel))
          .isEmpty();
      assertThat(arguments.get("y").sameBits(expected.get("y")))
          .as("first at %s", arguments.get("y").difference(expected.get("y")))
          .isTrue();
    }
  }

  /** Weights come and go by 16 bytes a lane, without bank conflicts; so do rows. */
  @ParameterizedTest
  @ValueSource(ints = {64, 128})
  void nothingMeetsInABank(int width) {
    PrimFunc func = network("f16", List.of(width, width, width), 32, 4, 64, true);
    PackConstants.Packed packed = PackConstants.apply(func, FlowPrograms.constants(func));
    Kernel kernel = Lowering.lower(packed.func(), GpuTarget.SM_80);
    long rows = 2 * 4 * 32;
    KernelCounters counted =
        new GridInterpreter(kernel, GridOptions.counting(2))
            .count(FlowPrograms.packed(func, packed, kernel.params(), rows), CACHES);
    assertThat(counted.sharedLoads().lost()).isZero();
    assertThat(counted.asyncStores().lost()).isZero();
    // 512 bytes of a weight serve all rows of a warp: once for each layer and tile of 32 rows.
    assertThat(counted.sharedLoads().count()).isEqualTo(rows / 32 * 2 * width * width / 256);
    // Rows of 16 bytes: whole sectors.
    assertThat(counted.globalStores().lost()).isZero();
  }

  /** What no lane could be given is refused, by name. */
  @Test
  void whatDoesNotFitIsRefused() {
    PrimFunc func = network("f16", List.of(64, 64), 32, 4, 64, true);
    assertThatThrownBy(() -> Lowering.lower(func, GpuTarget.SM_75))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining("sm_75 has no mma.sync of 16 by 8 by 16");
    PrimFunc large = network("f16", List.of(256, 256, 256), 16, 4, 64, false);
    assertThatThrownBy(() -> Lowering.lower(large, GpuTarget.SM_86))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining("of shared memory");
  }
}
