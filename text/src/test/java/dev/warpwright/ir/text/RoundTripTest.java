package dev.warpwright.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.testing.StructuralEquality;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Random programs, print, parse, print; {@code -Dseed=} repeats a run. */
class RoundTripTest {
  private static final long SEED = Long.getLong("seed", 20250314L);
  private final IrParser parser = new IrParser(RoundTripTest::intrinsic);

  static Optional<Intrinsic> intrinsic(String name) {
    return Optional.ofNullable(
        switch (name) {
          case "sync_threads" -> WildPrograms.SYNC;
          case "ld.shared.x4" -> WildPrograms.LOAD;
          default -> null;
        });
  }

  private static void check(int round, String text, Object before, Object after, String again) {
    String where = "seed " + SEED + ", round " + round;
    assertThat(StructuralEquality.difference(before, after)).as("%s\n%s", where, text).isEmpty();
    assertThat(StructuralEquality.equal(before, after)).isTrue();
    assertThat(StructuralEquality.digest(after)).isEqualTo(StructuralEquality.digest(before));
    assertThat(again).as(where).isEqualTo(text);
  }

  @Test
  void primFuncs() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < 200; i++) {
      PrimFunc f = new WildPrograms(random).primFunc();
      String text = IrPrinter.text(f);
      PrimFunc parsed = parser.primFunc("test", text);
      check(i, text, f, parsed, IrPrinter.text(parsed));
    }
  }

  @Test
  void kernels() {
    SplittableRandom random = new SplittableRandom(SEED + 1);
    for (int i = 0; i < 200; i++) {
      Kernel k = new WildPrograms(random).kernel("k" + i);
      String text = IrPrinter.text(k);
      Kernel parsed = parser.kernel("test", text);
      check(i, text, k, parsed, IrPrinter.text(parsed));
    }
  }

  @Test
  void programs() {
    SplittableRandom random = new SplittableRandom(SEED + 2);
    for (int i = 0; i < 200; i++) {
      Program p = new WildPrograms(random).program();
      String text = IrPrinter.text(p);
      Program parsed;
      try {
        parsed = parser.program("test", text);
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + SEED + ", round " + i + "\n" + text, e);
      }
      check(i, text, p, parsed, IrPrinter.text(parsed));
    }
  }
}
