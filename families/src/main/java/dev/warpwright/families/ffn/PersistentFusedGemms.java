package dev.warpwright.families.ffn;

import dev.warpwright.base.UserError;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.StagedGemm;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.families.simt.SimtLimits;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.order.FusedOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.simt.SimtLowering;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;

/**
 * Two products in one grid, tiled alike: its blocks take tiles of the first and then of the second,
 * which wait until the rows that they read are there. No block idles at the end of the first
 * product, and there is no second launch. The tiles of the second product are scheduled as by
 * {@link AmpereGemm} or {@link SimtGemm}.
 */
public final class PersistentFusedGemms {
  private static final StagedGemm.Names FIRST = new StagedGemm.Names("X", "W1", "sums1", "H");
  private static final StagedGemm.Names SECOND = new StagedGemm.Names("H", "W2", "sums2", "Y");

  private PersistentFusedGemms() {}

  /**
   * How the work of both grids is shared.
   *
   * @param order of the work
   * @param waits for which part of the first product a tile of the second one waits
   * @param blocks that share it
   * @param parts of the second product's K, whose sums are added up; 1 for whole tiles
   */
  public record Sharing(WorkOrder order, WaitPolicy waits, int blocks, int parts) {
    public Sharing {
      if (blocks < 1) {
        throw new UserError(blocks + " blocks share the work; 1 at least");
      }
      if (parts < 1 || parts > WorkDivision.MAX_PARTS) {
        throw new UserError(parts + " parts of K; 1 to " + WorkDivision.MAX_PARTS);
      }
    }

    /** Of whole tiles. */
    public Sharing(WorkOrder order, WaitPolicy waits, int blocks) {
      this(order, waits, blocks, 1);
    }

    private void requireWholeTiles(String by) {
      if (parts > 1) {
        throw new UserError(
            "K in "
                + parts
                + " parts: partial sums are added up by blocks without roles, by mma.sync, not "
                + by);
      }
    }
  }

  /**
   * Products by {@code mma.sync}.
   *
   * @param config of both products: a block a tile, not swapped
   * @throws UserError if the configuration does not fit one of the products or the target, or there
   *     are more parts than columns of tiles
   */
  public static ScheduledGemm schedule(
      FfnWorkload workload, AmpereConfig config, Sharing sharing, GpuTarget target) {
    for (GemmWorkload product : new GemmWorkload[] {workload.first(), workload.second()}) {
      String problem = AmpereGemm.problem(product, config, target);
      if (problem != null) {
        throw new UserError(problem);
      }
    }
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    s.annotate("workload", workload.kind());
    return schedule(s, func, FIRST, SECOND, workload.second(), config, sharing, target);
  }

  /** The same for other functions of two products by the same instruction. */
  static ScheduledGemm schedule(
      Schedule s,
      PrimFunc func,
      StagedGemm.Names firstNames,
      StagedGemm.Names secondNames,
      GemmWorkload like,
      AmpereConfig config,
      Sharing sharing,
      GpuTarget target) {
    if (config.swapAb() || config.isDivided() || config.blocks() != 0) {
      throw new UserError("GEMMs fused into one grid have a block a tile, and no swap-AB");
    }
    // The second one first: what it reads is then plainly all that the first one writes.
    StagedGemm second = tiles(s, secondNames, config);
    StagedGemm first = tiles(s, firstNames, config);
    LoopRef firstTiles = s.blockOrder(first.rows(), first.columns(), config.order());
    LoopRef secondTiles = s.blockOrder(second.rows(), second.columns(), config.order());
    AmpereGemm.describe(s, like, config, target);
    Attrs product = AmpereGemm.product(like, config, target);
    first.tensorize(s, product);
    second.tensorize(s, product);
    LoopRef both = s.mergeGrids(firstTiles, secondTiles, sharing.order(), sharing.waits());
    if (sharing.parts() > 1) {
      s.annotate(both, FusedOrder.DIVISION, new WorkDivision.Parts(sharing.parts()).text());
    }
    s.persistent(both, sharing.blocks());
    return scheduled(func, s, Lowering.lower(s.func(), target));
  }

  /**
   * Products by warpgroups, with roles.
   *
   * @param config of both products: no clusters, not swapped; its number of blocks is not used
   * @throws UserError if the configuration does not fit one of the products or the hardware
   */
  public static ScheduledGemm schedule(FfnWorkload workload, HopperConfig config, Sharing sharing) {
    sharing.requireWholeTiles("by wgmma");
    for (GemmWorkload product : new GemmWorkload[] {workload.first(), workload.second()}) {
      String problem = HopperLimits.problem(product, config);
      if (problem != null) {
        throw new UserError(problem);
      }
    }
    if (config.swapAb() || config.isDivided() || config.clusterM() * config.clusterN() != 1) {
      throw new UserError("GEMMs fused into one grid have no clusters, no split-K and no swap-AB");
    }
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    s.annotate("workload", workload.kind());
    // The second one first: what it reads is then plainly all that the first one writes.
    StagedGemm second = tiles(s, SECOND, config);
    StagedGemm first = tiles(s, FIRST, config);
    LoopRef firstTiles = s.blockOrder(first.rows(), first.columns(), config.order());
    LoopRef secondTiles = s.blockOrder(second.rows(), second.columns(), config.order());
    s.roles(1, config.consumers());
    s.annotate("minBlocks", (long) config.minBlocks());
    Attrs product = Attrs.NONE.with("instr", HopperGemm.instruction(workload.second(), config));
    first.tensorize(s, product);
    second.tensorize(s, product);
    s.persistent(
        s.mergeGrids(firstTiles, secondTiles, sharing.order(), sharing.waits()), sharing.blocks());
    return scheduled(func, s, Lowering.lower(s.func(), GpuTarget.SM_90A));
  }

  private static StagedGemm tiles(Schedule s, StagedGemm.Names names, HopperConfig config) {
    return StagedGemm.of(s, names, config.tileM(), config.tileN(), config.tileK(), config.stages());
  }

  private static StagedGemm tiles(Schedule s, StagedGemm.Names names, AmpereConfig config) {
    return StagedGemm.of(s, names, config.tileM(), config.tileN(), config.tileK(), config.stages());
  }

  /**
   * Products by multiply-adds of threads, in f32.
   *
   * @param config of both products
   * @throws UserError if the configuration does not fit one of the products or the target
   */
  public static ScheduledGemm schedule(
      FfnWorkload workload, SimtConfig config, Sharing sharing, GpuTarget target) {
    sharing.requireWholeTiles("by threads");
    for (GemmWorkload product : new GemmWorkload[] {workload.first(), workload.second()}) {
      String problem = SimtLimits.problem(product, config, target);
      if (problem != null) {
        throw new UserError(problem);
      }
    }
    PrimFunc func = workload.func();
    Schedule s = new Schedule(func);
    s.annotate("workload", workload.kind());
    // The second one first: what it reads is then plainly all that the first one writes.
    LoopRef second = SimtGemm.tiles(s, SECOND, workload.second(), config);
    LoopRef first = SimtGemm.tiles(s, FIRST, workload.first(), config);
    s.persistent(s.mergeGrids(first, second, sharing.order(), sharing.waits()), sharing.blocks());
    return scheduled(func, s, SimtLowering.lower(s.func()));
  }

  private static ScheduledGemm scheduled(PrimFunc func, Schedule s, Kernel kernel) {
    return new ScheduledGemm(func, s.trace(), s.func(), kernel, FusedOrder.table(kernel.attrs()));
  }
}
