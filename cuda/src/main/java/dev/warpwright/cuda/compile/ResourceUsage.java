package dev.warpwright.cuda.compile;

import java.util.List;

/**
 * What one kernel uses, as reported by ptxas.
 *
 * @param kernel the kernel's name
 * @param registers registers of a thread
 * @param staticShared bytes of shared memory known at compile time
 * @param localBytes bytes of a thread's stack: spills, and arrays that are indexed dynamically
 * @param spillStores bytes stored by spills, in the code, not in a run of it
 * @param spillLoads bytes loaded by spills
 * @param warnings ptxas' warnings about this kernel, such as matrix instructions that it had to
 *     serialize
 */
public record ResourceUsage(
    String kernel,
    int registers,
    int staticShared,
    int localBytes,
    int spillStores,
    int spillLoads,
    List<String> warnings) {
  public ResourceUsage {
    warnings = List.copyOf(warnings);
  }

  /** Whether the kernel stays in registers: no stack, no spills, no warning. */
  public boolean isClean() {
    return localBytes == 0 && spillStores == 0 && spillLoads == 0 && warnings.isEmpty();
  }
}
