package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ffn.FusedTiles;
import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.mma.AmpereModel;
import dev.warpwright.families.wgmma.HopperModel;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.perf.grid.Dealing;
import dev.warpwright.perf.grid.GridNumber;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
   * @param order of the tiles of both results, or of the second one's parts: all of them
   * @throws UserError if there is none of this size for the target, or the order is not possible
   */
  public static Kernel of(
      FfnWorkload workload,
      Tiling tiling,
      List<WorkItem> order,
      WaitPolicy waits,
      GpuTarget target,
      int sms) {
    Kernel kernel =
        PersistentFusedGemms.schedule(
                workload,
                config(workload, tiling, target),
                new PersistentFusedGemms.Sharing(
                    WorkOrder.SEQUENCE, waits, blocks(tiling, sms), TileOrders.parts(order)),
                target)
            .kernel();
    return new Kernel(
        kernel.name(),
        kernel.kind(),
        kernel.params(),
        kernel.bindings(),
        kernel.body(),
        kernel.attrs().with(FusedOrder.ORDER, listed(workload, tiling, order).text()));
  }

  /** Columns of the second result count on from part to part. */
  private static FusedOrder listed(FfnWorkload workload, Tiling tiling, List<WorkItem> order) {
    int columns = tiles(workload.n(), tiling.n());
    return new FusedOrder.Explicit(
        order.stream()
            .map(
                item ->
                    FusedOrder.Explicit.entry(
                        item.gemm(), item.row(), item.part() * columns + item.column()))
            .toList());
  }

  /** Why tiles in this order cannot wait so; null if they can. */
  public static @Nullable String refusal(
      FfnWorkload workload, Tiling tiling, List<WorkItem> order, WaitPolicy waits) {
    int rows = tiles(workload.m(), tiling.m());
    try {
      var unused =
          listed(workload, tiling, order)
              .table(
                  new FusedOrder.Extents(
                      rows,
                      tiles(workload.hidden(), tiling.n()),
                      rows,
                      tiles(workload.n(), tiling.n()),
                      TileOrders.parts(order)),
                  waits);
      return null;
    } catch (UserError e) {
      return String.valueOf(e.getMessage()).replaceFirst("^explicit order: ", "");
    }
  }

  private static int tiles(long extent, int tile) {
    return Math.toIntExact(Math.ceilDiv(extent, (long) tile));
  }

  /**
   * What {@link #of} makes, to be played in time.
   *
   * @throws UserError if there is no kernel of this size for the device
   */
  public static PersistentGrid grid(
      FfnWorkload workload,
      Tiling tiling,
      List<WorkItem> order,
      WaitPolicy waits,
      DeviceModel device) {
    AmpereConfig config = config(workload, tiling, device.target());
    return new PersistentGrid(
        PersistentGrid.problem(
            shape(workload), workload.n(), tiling, device, TileOrders.parts(order)),
        order,
        waits,
        Dealing.DRAWN,
        device,
        device.sms(),
        steps(workload, config.tileK()),
        new AmpereModel(Calibration.of(device))
            .tile(workload.first(), config, GridNumber.of(device).at(GridNumber.COPYING)));
  }

  /**
   * A feed-forward block as one persistent kernel by wgmma, to be played in time; nothing if no
   * tiles fit.
   *
   * @param order in which blocks draw tiles of both GEMMs
   */
  public static Optional<PersistentGrid> grid(
      FfnWorkload workload, WorkOrder order, WaitPolicy waits, DeviceModel device) {
    return FusedTiles.choose(workload, device.sms())
        .map(
            config -> {
              TileProblem problem =
                  PersistentGrid.problem(
                      shape(workload),
                      workload.n(),
                      new Tiling(config.tileM(), config.tileN(), 1, 1),
                      device);
              return new PersistentGrid(
                  problem,
                  TileOrders.of(problem, order == WorkOrder.ROWS ? "rows:1" : "row"),
                  waits,
                  Dealing.DRAWN,
                  device,
                  device.sms(),
                  steps(workload, config.tileK()),
                  new HopperModel(Calibration.of(device))
                      .tile(workload.first(), config, device.sms()));
            });
  }

  private static GemmShape shape(FfnWorkload w) {
    return new GemmShape(w.m(), w.hidden(), w.k(), w.precision());
  }

  private static PersistentGrid.Steps steps(FfnWorkload w, int tileK) {
    return new PersistentGrid.Steps(Math.ceilDiv(w.k(), tileK), Math.ceilDiv(w.hidden(), tileK));
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
