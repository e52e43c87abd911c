package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A grid kernel with data to run it on.
 *
 * @param scalars what its scalar parameters were before it was made for this shape, for reports
 * @param arguments new ones each time, the same each time
 * @param scratch buffers in which results that depend on the order of blocks may lie afterwards
 */
record PreparedKernel(
    Kernel kernel, Map<String, Long> scalars, Supplier<Arguments> arguments, Set<Buffer> scratch) {
  /**
   * A kernel on random data, or on what its attributes say that its buffers hold.
   *
   * @throws dev.warpwright.base.UserError if a scalar does not suit it
   */
  static PreparedKernel of(Kernel kernel, CheckOptions options) {
    if (kernel.attrs().getString("workload") != null) {
      BoundKernel bound = bound(kernel, options);
      Set<Buffer> scratch = new HashSet<>();
      bound
          .contents()
          .forEach(
              (buffer, content) -> {
                if (content instanceof BoundKernel.Content.Poison
                    && !bound.workload().outputs().contains(buffer)) {
                  scratch.add(buffer);
                }
              });
      return new PreparedKernel(
          bound.kernel(),
          small(kernel, options),
          () -> KernelData.of(bound, options.seed()),
          Set.copyOf(scratch));
    }
    Map<String, Long> scalars =
        KernelData.scalars(kernel.params(), options.scalars(), options.rows());
    return new PreparedKernel(
        kernel,
        scalars,
        () -> KernelData.random(kernel.params(), scalars, options.seed()),
        Set.of());
  }

  /** A kernel whose attributes say what it computes, for one shape. */
  static BoundKernel bound(Kernel kernel, CheckOptions options) {
    return BoundKernel.of(kernel, small(kernel, options));
  }

  /** What was given, and small values for what was not, unless it follows from the rest. */
  private static Map<String, Long> small(Kernel kernel, CheckOptions options) {
    return SmallShapes.usual(kernel, options).scalars();
  }
}
