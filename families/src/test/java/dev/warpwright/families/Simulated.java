package dev.warpwright.families;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.workload.GemmWorkload;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;

/** Executes what a family made. */
public final class Simulated {
  private static final long SEED = Long.getLong("seed", 41);

  private Simulated() {}

  /** The kernel computes what the computation does, in every order, without findings. */
  public static void assertSame(ScheduledGemm gemm) {
    assertSame(gemm, "C");
  }

  /** The same for a result of another name. */
  public static void assertSame(ScheduledGemm gemm, String result) {
    assertThat(Verifier.verify(gemm.tiles())).as(() -> IrPrinter.text(gemm.tiles())).isEmpty();
    assertComputes(gemm, result, 4e-3);
  }

  /** The same without a look at the scheduled program, and with another tolerance. */
  public static void assertComputes(ScheduledGemm gemm, double tolerance) {
    assertComputes(gemm, "C", tolerance);
  }

  /** The same for a result of another name. */
  public static void assertComputes(ScheduledGemm gemm, String result, double tolerance) {
    Kernel kernel = gemm.kernel();
    assertThat(Verifier.verify(kernel)).as(() -> IrPrinter.text(kernel)).isEmpty();
    Arguments expected = Arguments.random(gemm.func().params(), SEED);
    chooseGroups(expected, gemm.func().buffers());
    Interpreter.of(gemm.func(), Options.CHECKED).run(expected);
    NdArray first = null;
    Arguments arguments = arguments(gemm, SEED);
    // Each launch begins with what the one before it left: counters must be as they were.
    for (GridOptions options : orders(kernel)) {
      poison(arguments, kernel, result);
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as(() -> options + "\n" + IrPrinter.text(kernel))
          .isEmpty();
      Verification v = Verification.compare(arguments.get(result), expected.get(result));
      assertThat(v.within(tolerance)).as("%s: %s, seed %d", options, v, SEED).isTrue();
      first = first == null ? arguments.get(result).copy() : first;
      assertThat(arguments.get(result).sameBits(first)).as("%s: other bits", options).isTrue();
    }
  }

  /**
   * Orders in which blocks start, and how many run at a time: two, and each day another one. Where
   * warps meet at barriers only, an execution without a race says of every order that it gives the
   * same: there is one.
   */
  private static List<GridOptions> orders(Kernel kernel) {
    if (!waits(kernel)) {
      return List.of(GridOptions.random(SEED));
    }
    List<GridOptions> days =
        List.of(
            GridOptions.DEFAULT.withBlocks(Options.Order.REVERSE, 1),
            GridOptions.random(SEED + 1).withBlocks(Options.Order.SHUFFLED, 1),
            GridOptions.random(SEED + 2)
                .withBlocks(Options.Order.REVERSE, 1000)
                .withWarps(GridOptions.WarpChoice.TURNS));
    return List.of(
        GridOptions.DEFAULT,
        GridOptions.random(SEED),
        days.get(
            (int) (Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) % days.size())));
  }

  /** Whether blocks wait for each other. */
  private static boolean waits(Kernel kernel) {
    return has(kernel, "counters") || has(kernel, "prologueCounters");
  }

  private static boolean has(Kernel kernel, String name) {
    return kernel.buffers().stream().anyMatch(b -> b.name().equals(name));
  }

  /** Random operands, the kernel's table, counters that are zero. */
  public static Arguments arguments(ScheduledGemm gemm, long seed) {
    Kernel kernel = gemm.kernel();
    Arguments arguments = Arguments.random(kernel.params(), seed);
    for (int t = 0; t < gemm.table().size(); t++) {
      arguments.get("order").setIntegerElement(t, gemm.table().get(t));
    }
    for (String counters : List.of("counters", "partCounters", "prologueCounters")) {
      if (has(kernel, counters)) {
        arguments.get(counters).fill(0);
      }
    }
    chooseGroups(arguments, kernel.buffers());
    return arguments;
  }

  /** Lets each of grouped products take some B, the first one the last. */
  private static void chooseGroups(Arguments arguments, List<Buffer> params) {
    if (params.stream().noneMatch(b -> b.name().equals(GemmWorkload.GROUP))) {
      return;
    }
    Buffer b = params.stream().filter(p -> p.name().equals("B")).findFirst().orElseThrow();
    NdArray group = arguments.get(GemmWorkload.GROUP);
    for (int i = 0; i < group.size(); i++) {
      group.setIntegerElement(i, Math.floorMod(7L * i - 1, b.extent(0)));
    }
  }

  /** What the kernel has to write before it is read. */
  private static void poison(Arguments arguments, Kernel kernel, String result) {
    for (String name : List.of(result, "H", "partial", "A_global", "B_global")) {
      if (has(kernel, name)) {
        arguments.get(name).poison();
      }
    }
  }
}
