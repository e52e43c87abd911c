package dev.warpwright.families;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import java.util.List;

/** Executes what a family made. */
final class Simulated {
  private static final long SEED = Long.getLong("seed", 41);

  private Simulated() {}

  /** The kernel computes what the computation does, under two orders, without findings. */
  static void assertSame(ScheduledGemm gemm) {
    assertThat(Verifier.verify(gemm.tiles())).as(IrPrinter.text(gemm.tiles())).isEmpty();
    Kernel kernel = gemm.kernel();
    assertThat(Verifier.verify(kernel)).as(IrPrinter.text(kernel)).isEmpty();
    Arguments expected = Arguments.random(gemm.func().params(), SEED);
    Interpreter.of(gemm.func(), Options.CHECKED).run(expected);
    for (GridOptions options : List.of(GridOptions.DEFAULT, GridOptions.random(SEED))) {
      Arguments arguments = Arguments.random(kernel.params(), SEED);
      for (int t = 0; t < gemm.table().size(); t++) {
        arguments.get("order").setIntegerElement(t, gemm.table().get(t));
      }
      arguments.get("C").poison();
      assertThat(new GridInterpreter(kernel, options).check(arguments))
          .as("%s\n%s", options, IrPrinter.text(kernel))
          .isEmpty();
      Verification v = Verification.compare(arguments.get("C"), expected.get("C"));
      assertThat(v.within(4e-3)).as("%s: %s, seed %d", options, v, SEED).isTrue();
    }
  }
}
