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
  /**
   * As many bytes weigh as much as matrix instructions that wait for each other: 18 such kernels of
   * networks took 1.2 times what others do beside what is expected of them.
   */
  private static final int WAITS = 2048;

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

  /**
   * How much there is against a kernel: 0 for nothing, bytes that are spilled or lie in local
   * memory, and as many as weigh as much where matrix instructions wait for each other.
   *
   * @param cubin machine code of the kernel's printed form, alone
   */
  public static int spills(Kernel kernel, Cubin cubin) {
    if (problem(kernel, cubin).isEmpty()) {
      return 0;
    }
    ResourceUsage usage = cubin.usage(CudaPrinter.functionName(kernel)).orElse(null);
    int bytes = usage == null ? 0 : usage.spillStores() + usage.spillLoads();
    int local = usage == null ? 0 : usage.localBytes();
    return Math.max(1, Math.max(bytes, local)) + (FastKernelCheck.waits(kernel, cubin) ? WAITS : 0);
  }

  private static Outcome.Failed spill(String message) {
    return new Outcome.Failed(FailureReason.SPILL, message);
  }
}
