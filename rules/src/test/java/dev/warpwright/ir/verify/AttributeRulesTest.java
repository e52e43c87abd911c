package dev.warpwright.ir.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AttributeRulesTest {
  private static final String PROGRAM =
      """
      primfunc f(A: f32[4]) [%s] {
        for i in 4 [%s] {
          A[i] = 1.0f32
        }
      }
      """;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "threads = 64 | stages = 2 |",
        "thread = 64 | stages = 2 | there is no attribute 'thread'; is 'threads' meant?",
        "Threads = 64 | stages = 2 | there is no attribute 'Threads'; is 'threads' meant?",
        "minblocks = 2 | stages = 2 | there is no attribute 'minblocks'; is 'minBlocks' meant?",
        "colour = 64 | stages = 2 | there is no attribute 'colour'",
        "threads = \"64\" | stages = 2 | attribute 'threads' is a whole number, not a string",
        "arch = 90 | stages = 2 | attribute 'arch' is a string, not a number",
        "threads = 64 | threads = 64 | attribute 'threads' stands at a function, not at a loop",
        "stages = 3 | stages = 3 | attribute 'stages' stands at a loop, not at a function",
      })
  void theVerifierKnowsThem(String function, String loop, String problem) {
    PrimFunc func =
        new IrParser().primFunc("f", String.format(Locale.ROOT, PROGRAM, function, loop));
    List<Problem> found =
        Verifier.verify(func).stream().filter(p -> p.rule() == Rule.ATTRIBUTES).toList();
    if (problem == null) {
      assertThat(found).isEmpty();
    } else {
      assertThat(found).singleElement().extracting(Problem::message).isEqualTo(problem);
    }
  }
}
