package dev.warpwright.compiler.program;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.schedule.trace.Trace;
import java.util.List;

/**
 * A kernel and where it comes from.
 *
 * @param kernel what runs
 * @param function what it computes, unscheduled
 * @param trace what was done to {@code function}; replayed, it gives {@code tileProgram} again
 * @param tileProgram what it was lowered from
 * @param strategy how its stages share it, for example {@code shared chaining}
 * @param why one sentence, without a full stop, on why this strategy and these sizes
 * @param stages what it computes, in order, for reports
 */
public record CompiledKernel(
    Kernel kernel,
    PrimFunc function,
    Trace trace,
    PrimFunc tileProgram,
    String strategy,
    String why,
    List<String> stages) {
  /** The strategy that keeps activations in registers from layer to layer. */
  public static final String REGISTER_CHAINING = "register chaining";

  /** The strategy that passes them through shared memory. */
  public static final String SHARED_CHAINING = "shared chaining";

  public CompiledKernel {
    stages = List.copyOf(stages);
  }

  /** Whether activations stay in registers, so that constants are packed for the tensor cores. */
  public boolean isRegisterChained() {
    return strategy.equals(REGISTER_CHAINING);
  }
}
