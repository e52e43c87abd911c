package dev.warpwright.families.tuned;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.util.List;
import java.util.Optional;

/** What machine code says against a kernel that nobody has to use: others compute the same. */
public final class CompiledCheck {
  private CompiledCheck() {}

  /**
   * Why another kernel should be taken: spills of any kernel, and what {@link FastKernelCheck}
   * finds.
   *
   * @param cubin machine code of the kernel's printed form, alone
   */
  public static Optional<Outcome.Failed> problem(Kernel kernel, Cubin cubin) {
    Optional<ResourceUsage> usage = cubin.usage(CudaPrinter.functionName(kernel));
    int spills = usage.map(u -> u.spillStores() + u.spillLoads()).orElse(0);
    if (spills > 0) {
      return Optional.of(spill(spills + " bytes of registers are spilled"));
    }
    List<String> slow = FastKernelCheck.problems(kernel, cubin);
    return slow.isEmpty() ? Optional.empty() : Optional.of(spill(String.join("; ", slow)));
  }

  private static Outcome.Failed spill(String message) {
    return new Outcome.Failed(FailureReason.SPILL, message);
  }
}
