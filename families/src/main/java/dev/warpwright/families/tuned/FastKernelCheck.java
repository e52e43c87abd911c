package dev.warpwright.families.tuned;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Kernel;
import dev.warpwright.workload.tensor.Approximations;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What must not happen to a kernel with the attribute {@code fast = 1} when it is compiled: local
 * memory but that of sines, spills, and any remark of ptxas that it changed the course of matrix
 * instructions (C75xx) or ignored a register budget.
 */
public final class FastKernelCheck {
  private static final Pattern REMARK =
      Pattern.compile("\\(C75\\d\\d\\)|Potential Performance Loss|setmaxnreg ignored");

  /** One fence more, and nobody waits for what it did not wait for before. */
  private static final String ARRIVES = "(C7519)";

  /** Bytes in which sinf and cosf keep the quotients of a large argument, once a thread. */
  private static final int QUOTIENTS = 32;

  private FastKernelCheck() {}

  /**
   * What is wrong, one line each; nothing for kernels that do not say that they are fast.
   *
   * @param cubin machine code of the kernel's printed form, alone
   */
  public static List<String> problems(Kernel kernel, Cubin cubin) {
    List<String> problems = new ArrayList<>();
    if (kernel.attrs().getLong("fast", 0) == 0) {
      return problems;
    }
    String function = CudaPrinter.functionName(kernel);
    ResourceUsage usage = cubin.usage(function).orElse(null);
    if (usage == null) {
      problems.add("the compiler did not report what kernel " + function + " uses");
      return problems;
    }
    if (usage.spillStores() > 0 || usage.spillLoads() > 0) {
      problems.add(
          String.format(
              Locale.ROOT,
              "%d bytes of spill stores, %d bytes of spill loads",
              usage.spillStores(),
              usage.spillLoads()));
    }
    if (usage.localBytes() > (Approximations.leaveSines(kernel.body()) ? QUOTIENTS : 0)) {
      problems.add(usage.localBytes() + " bytes of local memory a thread");
    }
    remarks(cubin).forEach(problems::add);
    return problems;
  }

  private static Stream<String> remarks(Cubin cubin) {
    return cubin
        .log()
        .lines()
        .filter(line -> REMARK.matcher(line).find())
        .map(String::strip)
        .distinct();
  }

  /** Whether ptxas made matrix instructions wait, of a kernel that says that it is fast. */
  static boolean waits(Kernel kernel, Cubin cubin) {
    return kernel.attrs().getLong("fast", 0) != 0
        && remarks(cubin).anyMatch(remark -> !remark.contains(ARRIVES));
  }

  /** One line with all problems of a kernel. */
  public static String message(Kernel kernel, List<String> problems) {
    return "kernel " + kernel.name() + " is marked fast, but has " + String.join("; ", problems);
  }
}
