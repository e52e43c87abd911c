package dev.warpwright.verify;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A grid kernel with data to run it on.
 *
 * @param scalars what its scalar parameters were before it was made for this shape, for reports
 * @param arguments new ones each time, the same each time
 * @param scratch buffers in which results that depend on the order of blocks may lie afterwards
 * @param bound what its attributes say that it computes; null if they do not
 */
record PreparedKernel(
    Kernel kernel,
    Map<String, Long> scalars,
    Supplier<Arguments> arguments,
    Set<Buffer> scratch,
    @Nullable BoundKernel bound) {
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
          Set.copyOf(scratch),
          bound);
    }
    Map<String, Long> scalars =
        KernelData.scalars(kernel.params(), options.scalars(), options.rows());
    return new PreparedKernel(
        kernel, scalars, () -> KernelData.random(kernel, scalars, options.seed()), Set.of(), null);
  }

  /** What is right for these inputs, by output; nothing where nobody says what it computes. */
  Map<Buffer, OutputCheck.Expected> expected(Arguments inputs) {
    Map<Buffer, OutputCheck.Expected> expected = new HashMap<>();
    if (bound != null) {
      List<OutputCheck.Expected> right = new ResultCheck(bound).expected(inputs);
      for (int i = 0; i < right.size(); i++) {
        expected.put(bound.workload().outputs().get(i), right.get(i));
      }
    }
    return expected;
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
