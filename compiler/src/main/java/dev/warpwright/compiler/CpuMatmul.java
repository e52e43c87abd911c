package dev.warpwright.compiler;

import dev.warpwright.jvm.BoundFunction;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.jvm.Rehearsal;
import dev.warpwright.networks.rows.ProductSchedule;
import dev.warpwright.target.HostTarget;
import java.util.List;

/**
 * {@code C = A · B} in f32 for matrices of one shape. A network whose weights are known is faster
 * as a {@link CompiledModel}, which packs them once.
 */
public final class CpuMatmul {
  private static final long[] NO_SCALARS = {};

  /** Multiply-adds that are slow enough in code that is not compiled. */
  private static final long WORTH_REHEARSING = 1 << 21;

  private final HostFunction function;
  private final Parallel parallel;
  private final long work;
  private boolean rehearsed;

  CpuMatmul(int m, int n, int k, HostTarget target, Parallel parallel) {
    this.function =
        HostCompiler.compile(
            ProductSchedule.lower(ProductSchedule.function(m, n, k), target).kernel());
    this.parallel = parallel;
    this.work = (long) m * n * k;
  }

  /**
   * Multiplies.
   *
   * @param a [m, k] row-major
   * @param b [k, n] row-major
   * @param c [m, n] row-major, overwritten
   * @throws IllegalArgumentException if an array is too short
   */
  public void run(float[] a, float[] b, float[] c) {
    BoundFunction bound = function.bind(new Object[] {a, b, c}, NO_SCALARS);
    if (!rehearsed && work > WORTH_REHEARSING) {
      rehearsed = true;
      Rehearsal.run(List.of(bound), parallel);
    }
    bound.run(parallel);
  }
}
