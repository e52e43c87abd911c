package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.tile.PackConstants;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Networks through the registers of warpgroups whose weights flow by narrow slices, so many of them
 * a stage: packed, by linear TMA copies, and as they are, by tensor maps. Each pass, and the
 * kernel, compute the same. Others each day; {@code -Dseed=} repeats a day's.
 */
class RandomStreamsTest {
  private static final int PROGRAMS = Integer.getInteger("programs", 1);
  private static final long SEED =
      Long.getLong("seed", Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) * 1000);
  private static final int[] WIDTHS = {16, 32, 48, 64, 80, 96, 112, 160, 176, 208};

  /** Bytes that stay, at most: two stages of 208 columns of 208 are beside them. */
  private static final int MOST_RESIDENT = 56_000;

  private static final String LAYER =
      """
      tile.fill acc$L[0 +: 64, 0 +: $N] = 0.0f32
      pipeline k in $STEPS [stages = $STAGES, unrolled = 1$HOLD$SLICES] {
        alloc Ws$L: $T[$N, $D] shared
        tile.copy Ws$L[0 +: $N, 0 +: $D] <- W$L[0 +: $N, k * $D +: $D] $STREAM
        tile.mma acc$L[0 +: 64, 0 +: $N] += h$P[0 +: 64, k * $D +: $D] * Ws$L[0 +: $N, 0 +: $D]^T
          [$FLIGHTinstr = "wgmma.m64n$Nk16.f32.$T.ra"]
      }
      tile.map (r in 64, n in $N) {
        h$L[r, n] = $T(max(acc$L[r, n] + b$L[n], -3.0f32))
      }
      """;

  /** Widths, slices of a stage and which weights stay are random. */
  private static PrimFunc network(SplittableRandom random) {
    int layers = 2 + random.nextInt(4);
    int[] widths = random.ints(layers + 1L, 0, WIDTHS.length).map(i -> WIDTHS[i]).toArray();
    boolean[] stay = new boolean[layers + 1];
    int deepest = 16;
    int resident = 0;
    for (int l = 1; l <= layers; l++) {
      int bytes = 2 * widths[l] * widths[l - 1];
      // Panels of 128 bytes come by tensor maps.
      stay[l] =
          widths[l - 1] % 64 != 0 && resident + bytes <= MOST_RESIDENT && random.nextInt(4) == 0;
      resident += stay[l] ? bytes : 0;
      deepest = Math.max(deepest, stay[l] ? 0 : widths[l - 1]);
    }
    // An odd number, which the deepest weight fills: the ring's panels are those of a slice.
    int slices = Math.min(1 + 2 * random.nextInt(7), (deepest / 16 - 1) / 2 * 2 + 1);
    boolean holds = random.nextBoolean();
    StringBuilder params = new StringBuilder();
    StringBuilder allocs = new StringBuilder("alloc h0: $T[64, $I] fragment\n");
    StringBuilder code = new StringBuilder();
    for (int l = 1; l <= layers; l++) {
      int n = widths[l];
      int k = widths[l - 1];
      boolean stays = stay[l];
      Map<String, Object> values =
          Map.ofEntries(
              Map.entry("L", l),
              Map.entry("P", l - 1),
              Map.entry("N", n),
              Map.entry("K", k),
              Map.entry("D", stays ? k : 16),
              Map.entry("STEPS", stays ? 1 : k / 16),
              Map.entry("STREAM", stays ? "" : "[stream = 1]"),
              Map.entry("HOLD", holds && !stays ? ", hold = 1" : ""),
              Map.entry("FLIGHT", holds && !stays ? "inflight = 1, " : ""),
              Map.entry("SLICES", slices > 1 ? ", slices = " + slices : ""));
      params.append(FlowPrograms.fill("W$L: $T[$N, $K], b$L: f32[$N], ", values));
      allocs.append(
          FlowPrograms.fill(
              "alloc acc$L: f32[64, $N] fragment\nalloc h$L: $T[64, $N] fragment\n", values));
      code.append(FlowPrograms.fill(LAYER, values));
    }
    String text =
        "primfunc f(x: $T[M, $I], "
            + params
            + "y: $T[M, $O], M: i32 in 0..4096) [consumers = $W, resident = $S] {\n"
            + "persistent t in (M + 63) / 64 [blocks = 2] {\n"
            + allocs
            + "tile.copy h0[0 +: 64, 0 +: $I] <- x[t * 64 +: 64, 0 +: $I] $F\n"
            + code
            + "tile.copy y[t * 64 +: 64, 0 +: $O] <- h$Z[0 +: 64, 0 +: $O]\n} }\n";
    Map<String, Object> values =
        Map.of(
            "T",
            random.nextBoolean() ? "f16" : "bf16",
            "I",
            widths[0],
            "O",
            widths[layers],
            "W",
            1 + random.nextInt(2),
            "S",
            resident,
            "F",
            random.nextBoolean() ? "[prefetch = 1]" : "",
            "Z",
            layers,
            "STAGES",
            2);
    return FlowPrograms.parse(FlowPrograms.fill(text, values));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void computesTheSame(boolean pack) {
    for (int p = 0; p < PROGRAMS; p++) {
      SplittableRandom random = new SplittableRandom(SEED + p);
      computesTheSame(network(random), pack, 1 + random.nextInt(300), "seed " + (SEED + p));
    }
  }

  private static void computesTheSame(PrimFunc func, boolean pack, long rows, String seed) {
    assertThat(Verifier.verify(func)).as("%s: %s", seed, IrPrinter.text(func)).isEmpty();
    Arguments expected = LoweringTest.exact(func.params(), Map.of("M", rows));
    Interpreter.of(func, Options.CHECKED).run(expected);
    PackConstants.Packed packed =
        PackConstants.apply(func, pack ? FlowPrograms.constants(func) : Set.of());
    List<String> passes = new ArrayList<>();
    Kernel kernel =
        Lowering.lower(
            packed.func(),
            GpuTarget.SM_90A,
            (pass, text) -> {
              passes.add(pass);
              if (pass.equals("LowerTiles") || pass.equals("Simplify")) {
                return;
              }
              PrimFunc program = FlowPrograms.parse(text.get());
              assertThat(IrPrinter.text(program)).isEqualTo(text.get());
              assertThat(Verifier.verify(program))
                  .as("%s, %s: %s", seed, pass, text.get())
                  .isEmpty();
              Arguments arguments = FlowPrograms.packed(func, packed, program.params(), rows);
              Interpreter.of(program, Options.CHECKED.withOrder(Options.Order.SHUFFLED, 5))
                  .run(arguments);
              assertThat(arguments.get("y").sameBits(expected.get("y")))
                  .as("%s, %s:%n%s", seed, pass, text.get())
                  .isTrue();
            });
    assertThat(passes).contains("PlanPipes", "ChooseMovement", "LowerPipes", "LowerTiles");
    assertThat(IrPrinter.text(kernel))
        .contains(pack ? "bulk.load.linear" : "bulk.load.2d")
        .doesNotContain(pack ? "bulk.load.2d" : "bulk.load.linear");
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    for (GridOptions options :
        List.of(
            GridOptions.DEFAULT,
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 2),
            GridOptions.random(7))) {
      Arguments arguments = FlowPrograms.packed(func, packed, kernel.params(), rows);
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s, %s: %s", seed, options, IrPrinter.text(kernel))
          .isEmpty();
      assertThat(arguments.get("y").sameBits(expected.get("y")))
          .as("%s, first at %s", seed, arguments.get("y").difference(expected.get("y")))
          .isTrue();
    }
  }
}
