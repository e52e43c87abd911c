package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.perf.analyze.Tiling;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;

/**
 * Kernels of two chained products in one persistent grid by mma.sync, in an order that is listed.
 */
public final class ChainKernels {
  private static final int STEP = 64;

  private ChainKernels() {}

  /** Blocks that share the work. */
  static int blocks(Tiling tiling, int sms) {
    return sms * perSm(tiling);
  }

  private static int perSm(Tiling tiling) {
    return Math.min(2, tiling.perSm());
  }

  /**
   * The kernel.
   *
   * @param order of the tiles of both results
   * @throws UserError if there is none of this size for the target, or the order is not possible
   */
  public static Kernel of(
      FfnWorkload workload,
      Tiling tiling,
      List<WorkItem> order,
      WaitPolicy waits,
      GpuTarget target,
      int sms) {
    if (waits == WaitPolicy.GRID && !firstComesFirst(order)) {
      throw new UserError("wait=grid: this order begins the second GEMM earlier; give wait=row");
    }
    Kernel kernel =
        PersistentFusedGemms.schedule(
                workload,
                config(workload, tiling, target),
                new PersistentFusedGemms.Sharing(WorkOrder.SEQUENCE, waits, blocks(tiling, sms)),
                target)
            .kernel();
    FusedOrder listed =
        waits == WaitPolicy.GRID
            ? new FusedOrder.Sequence(tiles(order, 0), tiles(order, 1))
            : new FusedOrder.Explicit(
                order.stream()
                    .map(item -> FusedOrder.Explicit.entry(item.gemm(), item.row(), item.column()))
                    .toList());
    return new Kernel(
        kernel.name(),
        kernel.kind(),
        kernel.params(),
        kernel.bindings(),
        kernel.body(),
        kernel.attrs().with(FusedOrder.ORDER, listed.text()));
  }

  private static BlockOrder tiles(List<WorkItem> order, int gemm) {
    return new BlockOrder.Explicit(
        order.stream()
            .filter(item -> item.gemm() == gemm)
            .map(item -> new BlockOrder.Tile(item.row(), item.column()))
            .toList());
  }

  private static boolean firstComesFirst(List<WorkItem> order) {
    int last = -1;
    int first = order.size();
    for (int i = 0; i < order.size(); i++) {
      if (order.get(i).gemm() == 0) {
        last = i;
      } else {
        first = Math.min(first, i);
      }
    }
    return last < first;
  }

  private static AmpereConfig config(FfnWorkload workload, Tiling tiling, GpuTarget target) {
    String problem = "";
    for (int perSm = perSm(tiling); perSm >= 1; perSm--) {
      for (int stages : new int[] {3, 2}) {
        for (int[] warps : OrderKernels.WARPS) {
          var config =
              new AmpereConfig(
                  tiling.m(),
                  tiling.n(),
                  STEP,
                  stages,
                  warps[0],
                  warps[1],
                  perSm,
                  new BlockOrder.Row(),
                  false);
          String why = null;
          for (GemmWorkload product : new GemmWorkload[] {workload.first(), workload.second()}) {
            why = why == null ? AmpereGemm.problem(product, config, target) : why;
          }
          if (why != null) {
            problem = why;
          } else if (OrderKernels.fitsRegisters(config)) {
            return config;
          }
        }
      }
    }
    throw new UserError(
        "tile=" + tiling.text() + ": no kernel for " + target.name() + ": " + problem);
  }
}
