package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.UserError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Sketch;
import dev.warpwright.tune.space.Space;
import java.util.ArrayList;
import java.util.List;

/** What there is to choose from for a product on a target. */
public final class GemmSpace {
  private GemmSpace() {}

  /**
   * The space of all families that can compute it.
   *
   * @param multiprocessors of the device, which persistent kernels fill
   * @throws UserError if no family can
   */
  public static Space of(GemmWorkload workload, GpuTarget target, int multiprocessors) {
    List<Sketch> sketches = new ArrayList<>();
    if (target == GpuTarget.SM_90A
        && workload.layout() == GemmWorkload.Layout.NT
        && workload.operands().bytes() == 2
        && workload.k() * workload.operands().bytes() % 16 == 0) {
      sketches.add(new HopperSketch(workload, multiprocessors));
    }
    if (sketches.isEmpty()) {
      throw new UserError(
          "no family of kernels computes %s on %s yet: it takes layout=nt, dtype=bf16 or f16, K a"
                  .formatted(GemmKeys.of(workload), target.name())
              + " multiple of 8, on sm_90a");
    }
    return new Space(sketches);
  }
}
