package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.target.GpuTarget;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two GEMMs, the second of which reads what the first one writes, in one grid whose blocks draw
 * tickets: random shapes, tiles, rings, numbers of blocks, and what a tile waits for. Others each
 * day; {@code -Dseed=} repeats a day's.
 */
class RandomFusedProgramsTest {
  private static final int PROGRAMS = Integer.getInteger("programs", 3);
  private static final long SEED =
      Long.getLong("seed", Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) * 1000);

  private static final String PROGRAM =
      """
      primfunc merged(X: $T[$M, $K], V: $T[$N, $K], H: $T[$M, $N], W: $T[$P, $N], Y: $T[$M, $P])
          [$ATTRS] {
        persistent x in $ALL [blocks = $BLOCKS, columns = $CN, order = "rows",
            secondColumns = $CP, wait = "$WAIT", waits = "H", division = "$DIVISION"] {
          if x % $BOTH < $CN {
            alloc sums: f32[$R, $C] fragment
            tile.fill sums[0 +: $R, 0 +: $C] = 0.0f32
            pipeline k in ($K + $S - 1) / $S [stages = $STAGES] {
              alloc Xs: $T[$R, $S] shared
              alloc Vs: $T[$C, $S] shared
              tile.copy Xs[0 +: $R, 0 +: $S] <- X[x / $BOTH * $R +: $R, k * $S +: $S]
              tile.copy Vs[0 +: $C, 0 +: $S] <- V[x % $BOTH * $C +: $C, k * $S +: $S]
              tile.mma sums[0 +: $R, 0 +: $C] += Xs[0 +: $R, 0 +: $S] * Vs[0 +: $C, 0 +: $S]^T
                [$PRODUCT]
            }
            alloc Hs: $T[$R, $C] shared
            tile.map (i in $R, j in $C) {
              Hs[i, j] = $T(max(sums[i, j] * 0.25f32, 0.0f32))
            }
            tile.copy H[x / $BOTH * $R +: $R, x % $BOTH * $C +: $C] <- Hs[0 +: $R, 0 +: $C]
          } else {
            alloc sums: f32[$R, $C] fragment
            tile.fill sums[0 +: $R, 0 +: $C] = 0.0f32
            pipeline k in ($N + $S - 1) / $S [stages = $STAGES] {
              alloc Hs: $T[$R, $S] shared
              alloc Ws: $T[$C, $S] shared
              tile.copy Hs[0 +: $R, 0 +: $S] <- H[x / $BOTH * $R +: $R, k * $S +: $S]
              tile.copy Ws[0 +: $C, 0 +: $S] <- W[(x % $BOTH - $CN) * $C +: $C, k * $S +: $S]
              tile.mma sums[0 +: $R, 0 +: $C] += Hs[0 +: $R, 0 +: $S] * Ws[0 +: $C, 0 +: $S]^T
                [$PRODUCT]
            }
            alloc Ys: $T[$R, $C] shared
            tile.map (i in $R, j in $C) {
              Ys[i, j] = $T(sums[i, j])
            }
            tile.copy Y[x / $BOTH * $R +: $R, (x % $BOTH - $CN) * $C +: $C] <- Ys[0 +: $R, 0 +: $C]
          }
        }
      }
      """;

  /** By warpgroups with roles, or by warps without: then rows need not be aligned. */
  private static PrimFunc program(long seed, boolean warps) {
    SplittableRandom random = new SplittableRandom(seed);
    int consumers = 1 + random.nextInt(2);
    int rows = 64 * consumers;
    int columns = List.of(32, 64).get(random.nextInt(2));
    int m = 50 + random.nextInt(150);
    int aligned = warps && random.nextBoolean() ? 1 : 8;
    int k = aligned * (1 + random.nextInt(160 / aligned));
    int n = aligned * (32 / aligned + random.nextInt(128 / aligned));
    int p = aligned * (32 / aligned + random.nextInt(128 / aligned));
    String type = random.nextBoolean() ? "bf16" : "f16";
    String product =
        warps
            ? "instr = \"mma.m16n8k16.f32." + type + "\", warpsM = 2, warpsN = 2"
            : "instr = \"wgmma.m64n" + columns + "k16.f32." + type + "\"";
    String attrs = warps ? "threads = 128" : "consumers = " + consumers + ", producers = 1";
    boolean byTile = random.nextBoolean();
    int first = Math.ceilDiv(n, columns);
    int parts = warps ? 1 + random.nextInt(Math.min(first, 4)) : 1;
    // What is waited for tile by tile, or divided, is read by whole parts of tiles.
    int step = !byTile && parts == 1 ? 64 : random.nextBoolean() ? columns : 32;
    int second = Math.ceilDiv(p, columns);
    return FlowPrograms.parse(
        FlowPrograms.fill(
            PROGRAM,
            Map.ofEntries(
                Map.entry("T", type),
                Map.entry("PRODUCT", product),
                Map.entry("ATTRS", attrs),
                Map.entry("M", m),
                Map.entry("K", k),
                Map.entry("N", n),
                Map.entry("P", p),
                Map.entry("R", rows),
                Map.entry("C", columns),
                Map.entry("ALL", Math.ceilDiv(m, rows) * (first + second)),
                Map.entry("BOTH", first + second),
                Map.entry("CN", first),
                Map.entry("CP", second),
                Map.entry("S", step),
                Map.entry("DIVISION", parts == 1 ? "whole" : "parts:" + parts),
                Map.entry("WAIT", byTile ? "tile" : "row"),
                Map.entry("STAGES", 2 + random.nextInt(3)),
                Map.entry("BLOCKS", 1 + random.nextInt(4)))));
  }

  private static Arguments arguments(List<? extends Param> params, Attrs attrs) {
    Arguments arguments = LoweringTest.exact(params, Map.of());
    List<Integer> table = FusedOrder.table(attrs);
    for (Param param : params) {
      if (!(param instanceof Buffer buffer)) {
        continue;
      }
      switch (buffer.name()) {
        case "counters", "partCounters" -> arguments.get(buffer).fill(0);
        case "order" -> {
          for (int i = 0; i < table.size(); i++) {
            arguments.get(buffer).setElement(i, table.get(i));
          }
        }
        case "H", "Y" -> arguments.get(buffer).poison();
        default -> {}
      }
    }
    return arguments;
  }

  /** Behind each pass up to threads, one block draws all tiles, whichever role is ahead. */
  private static void assertEachPassComputes(PrimFunc func, Arguments expected, long seed) {
    List<String> passes = new ArrayList<>();
    Set<String> executed = new HashSet<>();
    Lowering.lower(
        func,
        GpuTarget.SM_90A,
        (pass, text) -> {
          passes.add(pass);
          // A pass that changes nothing leaves what has been executed.
          if (text.get().startsWith("kernel") || !executed.add(text.get())) {
            return;
          }
          PrimFunc program = FlowPrograms.parse(text.get());
          assertThat(IrPrinter.text(program)).isEqualTo(text.get());
          assertThat(Verifier.verify(program)).as("%s:%n%s", pass, text.get()).isEmpty();
          for (Options.Order order : List.of(Options.Order.FORWARD, Options.Order.SHUFFLED)) {
            Arguments arguments = arguments(program.params(), program.attrs());
            Interpreter.of(program, Options.CHECKED.withOrder(order, seed)).run(arguments);
            for (String name : List.of("H", "Y")) {
              assertThat(arguments.get(name).sameBits(expected.get(name)))
                  .as("%s of seed %d, %s, %s:%n%s", name, seed, pass, order, text.get())
                  .isTrue();
            }
          }
        });
    assertThat(passes)
        .contains("DistributeWork", "PlanPipes", "AssignRoles", "ChooseMovement", "LowerPipes");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGridOfTwoComputesWhatBothDo(boolean warps) {
    System.out.println("random merged programs from seed " + SEED + " on");
    for (long seed = SEED; seed < SEED + PROGRAMS; seed++) {
      PrimFunc func = program(seed, warps);
      Kernel kernel = LoweringTest.lowered(func);
      Arguments expected = LoweringTest.exact(func.params(), Map.of());
      Interpreter.of(func, Options.CHECKED).run(expected);
      assertEachPassComputes(func, expected, seed);
      for (GridOptions way : List.of(GridOptions.random(seed), GridOptions.even(3))) {
        Arguments arguments = arguments(kernel.params(), kernel.attrs());
        assertThat(new GridInterpreter(kernel, way).check(arguments))
            .as("seed %d, %s:%n%s", seed, way, IrPrinter.text(kernel))
            .isEmpty();
        for (String name : List.of("H", "Y")) {
          assertThat(arguments.get(name).sameBits(expected.get(name)))
              .as("%s of seed %d, %s:%n%s", name, seed, way, IrPrinter.text(func))
              .isTrue();
        }
      }
    }
  }
}
