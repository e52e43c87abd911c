package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import java.util.List;

/** Runs kernels of a few lines under all sanitizers, and says what they must report. */
final class Checked {
  static final long SEED = Long.getLong("seed", 80);

  private Checked() {}

  static List<Finding> check(Kernel kernel, Arguments arguments) {
    return new GridInterpreter(kernel, GridOptions.DEFAULT).check(arguments);
  }

  static List<Finding> check(String text) {
    Kernel kernel = KernelTexts.parse(text);
    return check(kernel, Arguments.random(kernel.params(), SEED));
  }

  static void expect(List<Finding> findings, Finding.Kind kind, String text) {
    assertThat(findings).isNotEmpty();
    assertThat(findings.getFirst().kind()).as("%s", findings).isEqualTo(kind);
    assertThat(findings.getFirst().message()).contains(text);
  }
}
