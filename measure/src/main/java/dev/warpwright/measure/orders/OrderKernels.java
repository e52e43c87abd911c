package dev.warpwright.measure.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.families.TileTimes;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.mma.AmpereModel;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperModel;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.grid.Dealing;
import dev.warpwright.perf.grid.GridNumber;
import dev.warpwright.perf.grid.PersistentGrid;
import dev.warpwright.perf.order.TileOrders;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.predict.Part.GemmShape;
import dev.warpwright.perf.predict.Tiling;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.Locale;

/**
 * The kernels that stand for sizes of tiles: 256 × 256 is a cluster of two blocks that stay and
 * multiply by wgmma, on Hopper only; all others are blocks that end with their tile and multiply by
 * mma.sync, as many at a time on an SM as {@link Tiling} says where they fit.
 */
final class OrderKernels {
  /** Warps of a block, along M and N. */
  static final int[][] WARPS = {{2, 2}, {1, 4}, {4, 1}, {2, 4}, {4, 2}};

  private static final int MOST_SUMS = 128;

  /** Registers of a thread beside its sums. */
  private static final int OTHERS = 72;

  private OrderKernels() {}

  /**
   * The kernel, with its table of tiles called {@code order}.
   *
   * @throws UserError if there is none of this type or size for the target
   */
  static Kernel of(GemmShape shape, Tiling tiling, BlockOrder order, GpuTarget target, int sms) {
    GemmWorkload workload = workload(shape);
    return tiling.sms() > 1
        ? HopperGemm.schedule(workload, with(pair(tiling, target, sms), order)).kernel()
        : AmpereGemm.schedule(workload, single(workload, tiling, order, target), target).kernel();
  }

  /**
   * What {@link #of} makes, to be played in time.
   *
   * @throws UserError if there is no kernel of this type or size for the device
   */
  static PersistentGrid grid(GemmShape shape, Tiling tiling, BlockOrder order, DeviceModel device) {
    GemmWorkload workload = workload(shape);
    GpuTarget target = device.target();
    Calibration calibration = Calibration.of(device);
    TileProblem problem = PersistentGrid.problem(shape, 0, tiling, device);
    TileTimes times;
    int step;
    if (tiling.sms() > 1) {
      HopperConfig pair = pair(tiling, target, device.sms());
      times = new HopperModel(calibration).tile(workload, pair, device.sms());
      step = pair.tileK();
    } else {
      AmpereConfig config = single(workload, tiling, order, target);
      times =
          new AmpereModel(calibration)
              .tile(workload, config, GridNumber.of(device).at(GridNumber.COPYING));
      step = config.tileK();
    }
    return new PersistentGrid(
        problem,
        TileOrders.of(problem, order),
        WaitPolicy.ROW,
        tiling.sms() > 1 ? Dealing.STRIDE : Dealing.DRAWN,
        device,
        device.sms() / tiling.sms(),
        new PersistentGrid.Steps(Math.ceilDiv(shape.k(), step), 0),
        times);
  }

  private static GemmWorkload workload(GemmShape shape) {
    return GemmWorkload.nt(shape.m(), shape.n(), shape.k(), type(shape.type()));
  }

  private static HopperConfig pair(Tiling tiling, GpuTarget target, int sms) {
    if (!target.hasHopper()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "tile=%s is what a cluster computes; %s has none",
              tiling.text(),
              target.name()));
    }
    return HopperConfig.pairs(tiling.m() / 2, tiling.n(), 4, 2, sms / 2 * 2);
  }

  private static AmpereConfig single(
      GemmWorkload workload, Tiling tiling, BlockOrder order, GpuTarget target) {
    String problem = "";
    for (int perSm = tiling.perSm(); perSm >= 1; perSm--) {
      for (int stages : new int[] {3, 4, 2}) {
        for (int[] warps : WARPS) {
          var config =
              new AmpereConfig(
                  tiling.m(), tiling.n(), 64, stages, warps[0], warps[1], perSm, order, false);
          String why = AmpereGemm.problem(workload, config, target);
          if (why != null) {
            problem = why;
          } else if (fitsRegisters(config)) {
            return config;
          }
        }
      }
    }
    throw new UserError(
        String.format(
            Locale.ROOT, "tile=%s: no kernel for %s: %s", tiling.text(), target.name(), problem));
  }

  /** Whether as many blocks as are meant to share an SM have registers enough. */
  static boolean fitsRegisters(AmpereConfig config) {
    int sums = config.tileM() * config.tileN() / config.threads();
    int each = GpuTarget.REGISTERS_PER_SM / (config.threads() * config.minBlocks());
    return sums <= MOST_SUMS && sums + OTHERS <= each;
  }

  /** How a kernel of this size multiplies. */
  static String name(Tiling tiling) {
    return tiling.sms() > 1 ? "wgmma" : "mma.sync";
  }

  private static HopperConfig with(HopperConfig c, BlockOrder order) {
    return new HopperConfig(
        c.tileM(),
        c.tileN(),
        c.tileK(),
        c.stages(),
        c.consumers(),
        c.clusterM(),
        c.clusterN(),
        order,
        c.blocks(),
        c.minBlocks(),
        c.swapAb());
  }

  /**
   * Refuses types for which there are no kernels.
   *
   * @throws UserError that names those for which there are
   */
  static void checkType(Precision type) {
    type(type);
  }

  private static DType type(Precision type) {
    return switch (type) {
      case BF16, F16 -> type.operand();
      case F32, TF32, F16_ACCUMULATORS, E4M3, E5M2, INT8, UINT8, F64 ->
          throw new UserError("dtype=" + type.text() + ": orders are measured in bf16 and f16");
    };
  }
}
