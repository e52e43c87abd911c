package dev.warpwright.networks.registers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;

/**
 * Schedules a network so that a warp carries some rows through all layers in its registers, as
 * {@link RegisterChain} does for warpgroups. Weights stay in shared memory, or are read from memory
 * each time.
 */
public final class WarpChain extends RowChain {
  private final WarpTiling tiling;

  private WarpChain(StageGroup group, WarpTiling tiling) {
    super(group);
    this.tiling = tiling;
  }

  /** The tile program of a network that {@link WarpTiling#refusal} does not refuse. */
  public static Scheduled schedule(StageGroup group, WarpTiling tiling) {
    return new WarpChain(group, tiling)
        .scheduled(tiling.rows(), tiling.blocks(), tiling.prefetch());
  }

  @Override
  void annotate() {
    schedule.annotate("consumers", (long) tiling.warps());
    schedule.annotate("warps", 1L);
    schedule.annotate("resident", tiling.bytes(group));
  }

  @Override
  boolean stagesResults() {
    return tiling.stagesResults();
  }

  /** Nothing: lowering does, where the tiling says so. */
  @Override
  void parts() {}

  /** As a whole, if it stays in shared memory. */
  @Override
  void weights(Matmul product, BlockRef block) {
    LoopRef whole = slices(block, product.k());
    if (tiling.stays(product)) {
      staged(product, block, whole, 1);
    } else {
      schedule.decomposeReduction(block, whole);
    }
  }

  @Override
  Attrs product(Matmul product) {
    Attrs attrs = Attrs.NONE.with("instr", WarpTiling.instruction(product));
    long part = tiling.part(product);
    return part < product.n() ? attrs.with("part", part) : attrs;
  }
}
