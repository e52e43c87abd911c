package dev.warpwright.families.wgmma;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.families.ThreadCopies;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.WgmmaGemm;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;

/**
 * Products for Hopper: TMA copies into a ring of stages, warpgroup products, roles, clusters with
 * multicast, persistent blocks, results through shared memory while the next tile begins.
 *
 * <p>Instructions take operands that are not of 16 bits from shared memory only if they are
 * K-major. One that is MN-major is transposed by the threads that copy it. One operand of 32 bits
 * may also be the one that instructions take from registers: it goes there from shared memory word
 * by word.
 */
public final class HopperGemm {
  private HopperGemm() {}

  /**
   * Schedules and lowers.
   *
   * @throws UserError if the configuration does not fit the workload or the hardware
   */
  public static ScheduledGemm schedule(GemmWorkload workload, HopperConfig config) {
    String problem = HopperLimits.problem(workload, config);
    if (problem != null) {
      throw new UserError(problem);
    }
    return schedule(workload.func(config.swapAb()), workload, config);
  }

  /** The same for another computation of the workload's shape. */
  public static ScheduledGemm schedule(PrimFunc func, GemmWorkload workload, HopperConfig config) {
    return schedule(new Begun(func, StagedGemm.Names.GEMM, workload), workload, config);
  }

  /**
   * A schedule that may have begun with steps of its own.
   *
   * @param func what is computed
   * @param schedule of it
   * @param names of the operands that tiles are copied from
   * @param computed the GEMM of the function
   */
  record Begun(PrimFunc func, Schedule schedule, StagedGemm.Names names, GemmWorkload computed) {
    Begun(PrimFunc func, StagedGemm.Names names, GemmWorkload computed) {
      this(func, new Schedule(func), names, computed);
    }
  }

  /**
   * Schedules the rest, and lowers.
   *
   * @param workload of the operands that tiles are copied from
   */
  static ScheduledGemm schedule(Begun begun, GemmWorkload workload, HopperConfig config) {
    PrimFunc func = begun.func();
    Schedule schedule = scheduled(begun, workload, config);
    PrimFunc tiles = schedule.func();
    Kernel kernel = Lowering.lower(tiles, GpuTarget.SM_90A);
    return new ScheduledGemm(
        func,
        schedule.trace(),
        tiles,
        kernel,
        ScheduledGemm.hasTable(kernel)
            ? ScheduledGemm.table(
                config.order(),
                config.division(),
                workload.batch().count()
                    * Math.ceilDiv(workload.m(), (long) config.tileM() * config.clusterM()),
                Math.ceilDiv(workload.n(), (long) config.tileN() * config.clusterN()),
                Math.ceilDiv(workload.k(), config.tileK()),
                config.blocks() / (config.clusterM() * config.clusterN()))
            : List.of());
  }

  /** The schedule itself. */
  private static Schedule scheduled(Begun begun, GemmWorkload workload, HopperConfig config) {
    Schedule s = begun.schedule();
    StagedGemm product =
        config.held()
            ? StagedGemm.holding(
                s,
                workload,
                config.swapAb() ? begun.names().b() : begun.names().a(),
                config.tileM(),
                config.tileN(),
                config.tileK(),
                config.stages())
            : StagedGemm.of(
                s,
                begun.names(),
                workload,
                config.tileM(),
                config.tileN(),
                config.tileK(),
                config.stages());
    s.roles(1, config.consumers());
    share(s, product, config);
    s.annotate("minBlocks", (long) config.minBlocks());
    if (config.direct()) {
      s.annotate("store", "direct");
    } else if (config.transposed()) {
      s.annotate("store", "transposed");
    } else if (!config.swapAb() && HopperLimits.isRaggedResult(workload)) {
      s.annotate("store", "rows");
    }
    if (config.vectors()) {
      s.annotate("copy", ThreadCopies.VECTORS);
    }
    begun.computed().description().forEach(s::annotate);
    product.tensorize(s, Attrs.NONE.with("instr", instruction(workload, config)));
    return s;
  }

  /** Shares the tiles out to blocks. */
  private static void share(Schedule s, StagedGemm product, HopperConfig config) {
    boolean clustered = config.clusterM() * config.clusterN() > 1;
    if (config.isPaired()) {
      s.annotate("clusterK", 2L);
    } else if (config.blocks() == 0 && !clustered) {
      s.bind(product.columns(), ThreadAxis.BLOCK_X);
      s.bind(product.rows(), ThreadAxis.BLOCK_Y);
      return;
    }
    if (config.blocks() == 0) {
      s.bind(
          s.blockOrder(product.rows(), product.columns(), new BlockOrder.Row()),
          ThreadAxis.BLOCK_X);
    } else {
      LoopRef tiles = s.blockOrder(product.rows(), product.columns(), config.order());
      if (config.isDivided()) {
        s.annotate(tiles, "division", config.division().text());
      }
      s.persistent(tiles, config.blocks());
    }
    if (clustered) {
      s.cluster(config.clusterM(), config.clusterN());
      if (config.clusterM() > 1) {
        s.multicast(product.b());
      }
      if (config.clusterN() > 1) {
        s.multicast(product.a());
      }
    }
  }

  /** The matrix instruction: as many columns as the tile, or rows where operands are swapped. */
  public static String instruction(GemmWorkload workload, HopperConfig config) {
    GemmWorkload.Layout layout = workload.layout();
    boolean any = workload.operands().bytes() == 2;
    boolean alongRows = any && (config.swapAb() ? !layout.transposedB() : layout.transposedA());
    boolean alongColumns = any && (config.swapAb() ? layout.transposedA() : !layout.transposedB());
    DType sums = workload.precision().accumulators();
    return String.format(
        Locale.ROOT,
        "wgmma.m%dn%dk%d.%s.%s%s%s",
        config.isOfFewRows() ? config.tileM() : WgmmaGemm.ROWS,
        config.swapAb() ? config.tileM() : config.tileN(),
        32 / workload.operands().bytes(),
        sums == DType.I32 ? "s32" : sums.text(),
        HopperLimits.instructionType(workload),
        config.held() ? ".ra" : alongRows ? ".ta" : "",
        alongColumns ? ".tb" : "");
  }
}
