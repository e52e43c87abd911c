package dev.warpwright.families;

import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.function.BiPredicate;

/**
 * A kernel family: a package with one way to compute GEMMs. {@link
 * dev.warpwright.families.space.GemmSpace} lists them.
 *
 * @param supports whether the family has kernels for a GEMM on a target
 * @param sketches its decisions for one
 */
public record KernelFamily(BiPredicate<GemmWorkload, GpuTarget> supports, Sketches sketches) {
  /** Makes a family's sketch of a GEMM. */
  @FunctionalInterface
  public interface Sketches {
    GemmSketch<?> of(GemmWorkload workload, GpuTarget target, int sms);
  }

  /** Whether the family has kernels for a GEMM on a target. */
  public boolean supports(GemmWorkload workload, GpuTarget target) {
    return supports.test(workload, target);
  }

  /** Its decisions for a GEMM. */
  public GemmSketch<?> sketch(GemmWorkload workload, GpuTarget target, int sms) {
    return sketches.of(workload, target, sms);
  }
}
