package dev.warpwright.compiler;

import dev.warpwright.jvm.BoundFunction;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.JvmWarmUp;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.networks.rows.GemmSchedule;
import dev.warpwright.target.HostTarget;
import java.util.List;

/**
 * {@code C = A · B} in f32 for matrices of one shape. A network whose weights are known is faster
 * as a {@link CompiledModel}, which packs them once.
 */
public final class CpuMatmul {
  private static final long[] NO_SCALARS = {};

  /** Multiply-adds that are slow enough in code that is not compiled. */
  private static final long WORTH_WARMING_UP = 1 << 21;

  private final HostFunction function;
  private final Parallel parallel;
  private final long work;
  private boolean warmedUp;

  CpuMatmul(int m, int n, int k, HostTarget target, Parallel parallel) {
    this.function =
        HostCompiler.compile(GemmSchedule.lower(GemmSchedule.function(m, n, k), target).kernel());
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
    if (!warmedUp && work > WORTH_WARMING_UP) {
      warmedUp = true;
      JvmWarmUp.run(List.of(bound), parallel);
    }
    bound.run(parallel);
  }
}
