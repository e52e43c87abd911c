package dev.warpwright.families.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.sim.Verification;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.AttentionReference;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Attention's kernels in the simulator, and its tile programs, against the plain definition. */
class AttentionKernelsTest {
  private static final long SEED = Long.getLong("seed", 29);

  private record Case(Attention attention, AttentionConfig config, int... lengths) {
    @Override
    public String toString() {
      return attention.text() + " " + config.text() + " of " + Arrays.toString(lengths);
    }
  }

  private static AttentionConfig config(int rows, int keys, int splits, int threads) {
    return new AttentionConfig(rows, keys, splits, threads);
  }

  @SuppressWarnings("unused") // By name.
  private static final List<Case> CASES =
      List.of(
          // Decode: one key, an empty entry, odd lengths, the whole cache.
          new Case(
              Attention.of(5, 8, 2, 64, 1, 127, DType.BF16),
              config(16, 32, 1, 64),
              1,
              3,
              17,
              127,
              0),
          new Case(
              Attention.of(4, 4, 2, 128, 3, 127, DType.F16).withCausal(true),
              config(16, 16, 3, 32),
              127,
              17,
              2,
              100),
          new Case(
              Attention.of(3, 6, 2, 96, 1, 100, DType.BF16).withPage(16),
              config(16, 32, 4, 64),
              1,
              50,
              99),
          new Case(
              Attention.of(2, 2, 1, 72, 8, 90, DType.F16).withPage(32).withCausal(true),
              config(16, 16, 2, 64),
              90,
              33),
          // Prefill: tiles of rows within a head and across heads, those that see less are shorter.
          new Case(
              Attention.of(1, 4, 2, 64, 77, 77, DType.BF16).withCausal(true),
              config(32, 32, 1, 64),
              77),
          new Case(
              Attention.of(2, 2, 2, 8, 64, 80, DType.F16).withCausal(true),
              config(64, 16, 1, 128),
              80,
              64),
          new Case(
              Attention.of(1, 1, 1, 40, 20, 65, DType.BF16).withScale(0.5),
              config(16, 64, 1, 32),
              65));

  private static Arguments arguments(
      Attention attention, List<? extends dev.warpwright.ir.Param> params, int[] lengths) {
    Arguments arguments = Arguments.random(params, SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    NdArray q = arguments.get("Q");
    for (int i = 0; i < q.size(); i++) {
      // So that weights differ much, and maxima move.
      q.setElement(i, q.element(i) * 6);
    }
    for (int i = 0; i < lengths.length; i++) {
      arguments.get("lengths").setIntegerElement(i, lengths[i]);
    }
    int pages = attention.pagesEach();
    int[] order = order(random, attention.batch() * pages);
    for (int i = 0; attention.isPaged() && i < order.length; i++) {
      boolean used = i % pages * attention.page() < lengths[i / pages];
      // Behind an entry's keys the table says nothing.
      arguments.get("table").setIntegerElement(i, used ? order[i] : -7);
    }
    for (String name : List.of("K", "V")) {
      padding(attention, arguments, arguments.get(name), lengths);
    }
    return arguments;
  }

  private static int[] order(SplittableRandom random, int count) {
    int[] order = new int[count];
    Arrays.setAll(order, i -> i);
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    return order;
  }

  /** What no entry has a key for is not a number. */
  private static void padding(
      Attention attention, Arguments arguments, NdArray cache, int[] lengths) {
    NdArray old = cache.copy();
    cache.fill(Double.NaN);
    int d = attention.headSize();
    for (int head = 0; head < attention.heads(); head++) {
      int entry = head / attention.kvHeads();
      for (int key = 0; key < lengths[entry]; key++) {
        long slab = head;
        if (attention.isPaged()) {
          int i = entry * attention.pagesEach() + key / attention.page();
          slab =
              arguments.get("table").integerElement(i) * attention.kvHeads()
                  + head % attention.kvHeads();
        }
        long at = (slab * attention.slabKeys() + key % attention.slabKeys()) * d;
        for (int c = 0; c < d; c++) {
          cache.setElement(at + c, old.element(at + c));
        }
      }
    }
  }

  private static AttentionReference reference(Attention attention, Arguments arguments) {
    int[] table = new int[attention.batch() * attention.pagesEach()];
    int[] lengths = new int[attention.batch()];
    Arrays.setAll(lengths, i -> (int) arguments.get("lengths").integerElement(i));
    if (attention.isPaged()) {
      Arrays.setAll(table, i -> (int) arguments.get("table").integerElement(i));
    }
    return AttentionReference.of(
        attention,
        arguments.get("Q").toDoubles(),
        arguments.get("K").toDoubles(),
        arguments.get("V").toDoubles(),
        lengths,
        table);
  }

  private static void assertRight(
      Attention attention, NdArray result, AttentionReference expected, String what) {
    double[] got = result.toDoubles();
    Deviations deviations =
        Deviations.of(
            ErrorBound.of(attention.type()),
            i -> got[i],
            i -> expected.values()[i],
            i -> expected.deviations()[i],
            got.length,
            0,
            false);
    assertThat(deviations.text(attention.headSize())).as("%s, seed %d", what, SEED).isEmpty();
    assertThat(Verification.compare(got, expected.values()).relError())
        .as("%s, seed %d", what, SEED)
        .isLessThan(attention.tolerance());
  }

  @ParameterizedTest
  @FieldSource("CASES")
  void kernelsAreCleanAndRight(Case each) {
    Attention attention = each.attention;
    AttentionKernels kernels = AttentionKernels.of(attention, each.config, GpuTarget.SM_80);
    for (PrimFunc tiles : kernels.tiles()) {
      assertThat(Verifier.verify(tiles)).as(IrPrinter.text(tiles)).isEmpty();
    }
    for (Kernel kernel : kernels.kernels()) {
      assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    }
    Program program = kernels.program();
    Arguments data = arguments(attention, ProgramInterpreter.params(program), each.lengths);
    AttentionReference expected = reference(attention, data);
    for (GridOptions way :
        List.of(
            GridOptions.random(SEED),
            GridOptions.DEFAULT
                .withWarps(GridOptions.WarpChoice.LAST)
                .withBlocks(Options.Order.REVERSE, 3))) {
      Arguments arguments = data.copy();
      arguments.get("O").poison();
      assertThat(new ProgramInterpreter(program, way, Options.CHECKED).check(arguments))
          .as("%s, seed %d", way, SEED)
          .isEmpty();
      assertRight(attention, arguments.get("O"), expected, way.toString());
    }
  }

  /** The formulas are what the reference computes, which knows nothing of them. */
  @ParameterizedTest
  @FieldSource("CASES")
  void theDefinitionIsTheReference(Case each) {
    PrimFunc func = each.attention.func();
    assertThat(Verifier.verify(func)).as(IrPrinter.text(func)).isEmpty();
    Arguments arguments = arguments(each.attention, func.params(), each.lengths);
    AttentionReference expected = reference(each.attention, arguments);
    arguments.get("O").poison();
    Interpreter.of(func, Options.DOUBLE).run(arguments);
    double[] got = arguments.get("O").toDoubles();
    assertThat(Verification.compare(got, expected.values()).relError())
        .isLessThan(each.attention.tolerance());
  }
}
