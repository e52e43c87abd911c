package dev.warpwright.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.testing.RandomPrograms;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.verify.Verifier;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Damaged texts give one clear line, and what still parses can be verified and printed; {@code
 * -Dseed=} repeats a run.
 */
class HostileTextTest {
  private static final long SEED = Long.getLong("seed", 20250314L);
  private static final String[] PIECES = {
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "-1",
    "9223372036854775807",
    "0",
    "f16",
    "i64",
    "x",
    "M",
    "for",
    "in",
    "+:",
    "+",
    "/",
    "%",
    "layout (4:1)",
    "^<9,9,9>",
    "align 3",
    "1e400",
    "ramp(0, 1, 4)",
    ",",
    "\"",
    "`",
    "// x\n",
    "shared",
    "true",
    "&&",
    "<",
    "=",
    "\0",
    "é",
    "let q = ",
    "alloc b: f32[0] local"
  };

  private final IrParser parser = new IrParser(RoundTripTest::intrinsic);

  private static String damaged(String text, SplittableRandom random) {
    String result = text;
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      int from = random.nextInt(result.length());
      int to = Math.min(result.length(), from + random.nextInt(0, 6));
      String piece = random.nextInt(3) == 0 ? "" : PIECES[random.nextInt(PIECES.length)];
      result = result.substring(0, from) + piece + result.substring(to);
    }
    return result;
  }

  private void check(String text, int round) {
    String where = "seed " + SEED + ", round " + round + "\n" + text;
    IrFile file;
    try {
      file = parser.file("damaged", text);
    } catch (UserError e) {
      assertThat(e.getMessage()).as(where).matches("damaged:\\d+:\\d+: [^\\n]+");
      return;
    } catch (RuntimeException | StackOverflowError e) {
      throw new AssertionError(where, e);
    }
    try {
      for (Kernel k : file.kernels()) {
        Verifier.verify(k);
        Simplify.kernel(k);
        assertThat(StructuralEquality.difference(k, parser.kernel("again", IrPrinter.text(k))))
            .as(where)
            .isEmpty();
      }
      for (Program p : file.programs()) {
        Verifier.verify(p);
        assertThat(IrPrinter.text(p)).isNotEmpty();
      }
      file.primFuncs().forEach(Verifier::verify);
    } catch (RuntimeException | StackOverflowError e) {
      throw new AssertionError(where, e);
    }
  }

  @Test
  void damagedTextsAreRefusedInOneLine() {
    SplittableRandom random = new SplittableRandom(SEED);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      texts.add(IrPrinter.text(new WildPrograms(random).kernel("k")));
      texts.add(IrPrinter.text(new WildPrograms(random).primFunc()));
      texts.add(IrPrinter.text(new WildPrograms(random).program()));
      texts.add(IrPrinter.text(new RandomPrograms(random).hostKernel()));
      texts.add(IrPrinter.text(new RandomPrograms(random).gridKernel()));
    }
    for (int i = 0; i < 1500; i++) {
      check(damaged(texts.get(i % texts.size()), random), i);
    }
  }
}
