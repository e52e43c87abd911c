package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.SimulationError;
import java.util.Arrays;

/**
 * Executes a tile program twice: once with all that is asynchronous complete when it is issued,
 * once as late as pipes allow. Where something reads or overwrites what is still under way, the
 * results differ, and that is a finding even if no element is tracked.
 */
public final class BothTimes {
  private BothTimes() {}

  /**
   * Runs on these arguments, which hold the results afterwards.
   *
   * @throws SimulationError if an execution fails, or the two differ in an element
   */
  public static void run(PrimFunc func, Arguments arguments, Options options) {
    Arguments again = arguments.copy();
    Interpreter.of(func, options).run(arguments);
    Interpreter.of(func, options.asLateAsAllowed()).run(again);
    for (Param p : func.params()) {
      if (p instanceof Buffer buffer) {
        compare(func, buffer, arguments.get(buffer), again.get(buffer));
      }
    }
  }

  private static void compare(PrimFunc func, Buffer buffer, NdArray now, NdArray late) {
    int different = Arrays.mismatch(now.bytes(), late.bytes());
    if (different >= 0) {
      int element = different / buffer.dtype().bytes();
      throw new SimulationError(
          new Finding(
              Finding.Kind.RESULT,
              func.name(),
              0,
              "",
              "",
              buffer.name() + "[offset " + element + "]",
              "what is under way completes at issue in one run, as late as allowed in another one,"
                  + " and the results differ"));
    }
  }
}
