package dev.warpwright.ir.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The programs are well formed, before and after simplification; {@code -Dseed=} repeats a run. */
class RandomProgramsTest {
  private static final long SEED = Long.getLong("seed", 20250314L);

  @Test
  void primFuncsAreWellFormed() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 100; i++) {
      PrimFunc f = new RandomPrograms(random).primFunc();
      assertThat(Verifier.verify(f)).as("seed %s, %s\n%s", SEED, i, IrPrinter.text(f)).isEmpty();
      PrimFunc simple = Simplify.primFunc(f);
      assertThat(Verifier.verify(simple)).as("seed %s, %s", SEED, i).isEmpty();
      assertThat(Simplify.primFunc(simple)).as("seed %s, %s", SEED, i).isSameAs(simple);
    }
  }

  @Test
  void kernelsAreWellFormed() {
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (int i = 0; i < 200; i++) {
      RandomPrograms programs = new RandomPrograms(random);
      for (Kernel k : List.of(programs.hostKernel(), programs.gridKernel())) {
        String text = IrPrinter.text(k);
        assertThat(Verifier.verify(k)).as("seed %s, %s\n%s", SEED, i, text).isEmpty();
        Kernel parsed = new IrParser().kernel("random", text);
        assertThat(StructuralEquality.difference(k, parsed)).isEmpty();
        Kernel simple = Simplify.kernel(k);
        assertThat(Verifier.verify(simple)).as("seed %s, %s\n%s", SEED, i, text).isEmpty();
        Kernel again = Simplify.kernel(simple);
        assertThat(StructuralEquality.difference(simple, again))
            .as("seed %s, %s\n%s\n%s", SEED, i, text, IrPrinter.text(simple))
            .isEmpty();
      }
    }
  }

  @Test
  void sameSeedGivesTheSameProgram() {
    String one = IrPrinter.text(new RandomPrograms(new SplittableRandom(SEED)).hostKernel());
    String two = IrPrinter.text(new RandomPrograms(new SplittableRandom(SEED)).hostKernel());
    assertThat(one).isEqualTo(two);
  }
}
