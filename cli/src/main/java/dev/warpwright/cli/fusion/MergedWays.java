package dev.warpwright.cli.fusion;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.fusion.Alternative;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.program.OverlappedCalls;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.measure.orders.OneKernel;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The ways to compute both GEMMs of a feed-forward block in one persistent kernel, which the
 * planner does not choose, and a search tries: orders of the tiles of both, and what tiles of the
 * second one wait for.
 */
final class MergedWays {
  private static final List<WaitPolicy> WAITS = List.of(WaitPolicy.TILE, WaitPolicy.ROW);

  private MergedWays() {}

  /** Those of a plain block of more rows than weights alone are waited for; none of others. */
  static List<Alternative> of(NetworkTask task, GpuTarget target) {
    List<Alternative> ways = new ArrayList<>();
    if (target.hasHopper()
        && task.rows() > OverlappedCalls.FEW_ROWS
        && OneKernel.isBlock(gemms(task))) {
      for (WorkOrder order : WorkOrder.values()) {
        for (WaitPolicy waits : WAITS) {
          ways.add(way(task, target, order, waits));
        }
      }
    }
    return ways;
  }

  /** Microseconds that they are expected to take on a device, by their names. */
  static Map<String, Double> expected(NetworkTask task, DeviceModel device) {
    List<GemmWorkload> gemms = gemms(task);
    Map<String, Double> expected = new HashMap<>();
    for (WaitPolicy waits : WAITS) {
      for (OneKernel kernel : OneKernel.of(gemms, waits, device)) {
        expected.put(NetworkCompiler.mergedName(kernel.order(), kernel.waits()), kernel.micros());
      }
    }
    return expected;
  }

  private static List<GemmWorkload> gemms(NetworkTask task) {
    return NetworkCompiler.products(task.graph(), task.precision(), task.rows());
  }

  private static Alternative way(
      NetworkTask task, GpuTarget target, WorkOrder order, WaitPolicy waits) {
    return new Alternative(
        NetworkCompiler.mergedName(order, waits),
        () -> {
          try {
            return Optional.of(
                NetworkCompiler.merged(
                    task.graph(),
                    target,
                    task.precision(),
                    task.rows(),
                    order,
                    waits,
                    DeviceCatalogue.sms(target)));
          } catch (UserError e) {
            // Its widths do not fit the kernel.
            return Optional.empty();
          }
        });
  }
}
