package dev.warpwright.lower.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.tile.PassRefusal;
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
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random tile programs mean the same behind every pass of {@link Lowering}, whatever is under way
 * completing at once or as late as it may, and as kernels in the grid simulator. What a pass cannot
 * do it says in one line.
 *
 * <p>Other programs each day; {@code -Dseed=} repeats a day's. {@link #main} tries as many as one
 * has time for.
 */
class RandomFlowProgramsTest {
  private static final int PROGRAMS = Integer.getInteger("programs", 8);
  private static final long SEED =
      Long.getLong("seed", Long.getLong("day", LocalDate.now(ZoneOffset.UTC).toEpochDay()) * 1000);

  private static final List<Options> INTERPRETED =
      List.of(
          Options.CHECKED.withOrder(Options.Order.SHUFFLED, SEED),
          Options.CHECKED.withOrder(Options.Order.REVERSE, SEED).asLateAsAllowed());

  private static final List<GridOptions> SIMULATED =
      List.of(
          GridOptions.DEFAULT
              .withWarps(GridOptions.WarpChoice.LAST)
              .withBlocks(Options.Order.REVERSE, 4),
          GridOptions.random(SEED));

  private final Map<String, Integer> seen = new TreeMap<>();
  private final Map<String, Integer> refused = new TreeMap<>();

  private void count(String what, boolean happened) {
    seen.merge(what, happened ? 1 : 0, Integer::sum);
  }

  /** The text of a program behind a pass. */
  private record Behind(String pass, String text) {}

  /** Tries a program; an error says which, and behind which pass. */
  private void attempt(long seed) {
    PrimFunc func = RandomFlowPrograms.of(seed);
    assertThat(Verifier.verify(func)).as("seed %d:%n%s", seed, IrPrinter.text(func)).isEmpty();
    List<Behind> passes = new ArrayList<>();
    Kernel kernel;
    try {
      kernel =
          Lowering.lower(
              func, GpuTarget.SM_90A, (pass, text) -> passes.add(new Behind(pass, text.get())));
    } catch (LoweringException | PassRefusal e) {
      assertThat(e.getMessage()).as("seed %d", seed).isNotBlank().doesNotContain("\n");
      refused.merge(e.getMessage(), 1, Integer::sum);
      count("kernels", false);
      // What was done until then is right, too.
      check(seed, func, passes);
      return;
    } catch (RuntimeException e) {
      throw new AssertionError("seed " + seed + ": no refusal, but " + e, e);
    }
    Arguments expected = check(seed, func, passes);
    simulate(seed, kernel, expected);
    count("kernels", true);
    String text = IrPrinter.text(kernel);
    count("operands in registers", text.contains(".ra"));
    count("variables go round", text.contains("let stage: i32 = next"));
    count("rows are reduced", text.contains("shfl.xor"));
    count("items of their own", func.attrs().getLong("consumers", 0) > 1 && isDealt(func));
    count("persistent", IrPrinter.text(func).contains("persistent"));
    count("resident", passes.stream().anyMatch(p -> p.text().contains("pipe kept")));
  }

  private static boolean isDealt(PrimFunc func) {
    return "items".equals(func.attrs().getString("share"));
  }

  private static void poison(Arguments arguments) {
    arguments.get("C").poison();
  }

  /** Runs the program behind each pass in which it still is one. */
  private Arguments check(long seed, PrimFunc func, List<Behind> passes) {
    Arguments expected = LoweringTest.exact(func.params(), Map.of());
    poison(expected);
    Interpreter.of(func, Options.CHECKED).run(expected);
    String last = IrPrinter.text(func);
    for (Behind behind : passes) {
      if (behind.text().startsWith("kernel") || behind.text().equals(last)) {
        continue;
      }
      last = behind.text();
      String what = behind.pass() + " of seed " + seed;
      PrimFunc program = FlowPrograms.parse(last);
      assertThat(IrPrinter.text(program)).as(what).isEqualTo(last);
      assertThat(Verifier.verify(program)).as("%s:%n%s", what, last).isEmpty();
      for (Options options : INTERPRETED) {
        Arguments arguments = LoweringTest.exact(program.params(), Map.of());
        poison(arguments);
        try {
          Interpreter.of(program, options).run(arguments);
        } catch (RuntimeException e) {
          throw new AssertionError(what + ", " + options + ": " + e.getMessage() + "\n" + last, e);
        }
        assertThat(arguments.get("C").sameBits(expected.get("C")))
            .as("%s, %s:%n%s", what, options, last)
            .isTrue();
        count("behind " + behind.pass(), true);
      }
    }
    return expected;
  }

  private static void simulate(long seed, Kernel kernel, Arguments expected) {
    String text = IrPrinter.text(kernel);
    assertThat(Verifier.verify(kernel)).as("seed %d:%n%s", seed, text).isEmpty();
    for (GridOptions options : SIMULATED) {
      Arguments arguments = LoweringTest.exact(kernel.params(), Map.of());
      poison(arguments);
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("seed %d, %s:%n%s", seed, options, text)
          .isEmpty();
      assertThat(arguments.get("C").sameBits(expected.get("C")))
          .as(
              "seed %d, %s, first at %s:%n%s",
              seed, options, arguments.get("C").difference(expected.get("C")), text)
          .isTrue();
    }
  }

  @Test
  void sameBehindEachPassAndAsKernels() {
    System.out.println("random tile programs from seed " + SEED + " on");
    for (long seed = SEED; seed < SEED + PROGRAMS; seed++) {
      attempt(seed);
    }
    System.out.println(seen + ", refused: " + refused);
    assertThat(seen.get("kernels")).as("%s, %s", seen, refused).isGreaterThan(PROGRAMS / 2);
  }

  /**
   * Tries programs one after the other, and says what was seen of what.
   *
   * @param args the first seed, and how many
   */
  public static void main(String[] args) {
    long first = args.length > 0 ? Long.parseLong(args[0]) : SEED;
    long count = args.length > 1 ? Long.parseLong(args[1]) : 100;
    RandomFlowProgramsTest test = new RandomFlowProgramsTest();
    int wrong = 0;
    for (long seed = first; seed < first + count; seed++) {
      try {
        test.attempt(seed);
      } catch (AssertionError | RuntimeException e) {
        wrong++;
        System.out.println("WRONG seed " + seed + ": " + e.getMessage());
      }
    }
    System.out.println(test.seen);
    test.refused.forEach((why, times) -> System.out.println(times + " refused: " + why));
    System.out.println(count + " programs, " + wrong + " wrong");
    System.exit(wrong == 0 ? 0 : 1);
  }
}
