package dev.warpwright.networks.registers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Scope;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.schedule.BlockRef;

/**
 * Schedules a network in f32 so that a warp takes some rows through all layers by fma: only
 * accumulators are in its registers, for a thread needs other rows' activations than those it has
 * computed; they pass through shared memory of the warp's own.
 */
public final class SimtChain extends RowChain {
  private final SimtTiling tiling;

  private SimtChain(StageGroup group, SimtTiling tiling) {
    super(group);
    this.tiling = tiling;
  }

  /** The tile program of a network that {@link SimtTiling#refusal} does not refuse. */
  public static Scheduled schedule(StageGroup group, SimtTiling tiling) {
    return new SimtChain(group, tiling).scheduled(tiling.rows(), tiling.blocks(), false);
  }

  @Override
  void annotate() {
    schedule.annotate("consumers", (long) tiling.warps());
    schedule.annotate("warps", 1L);
    schedule.annotate("resident", tiling.weights(group));
  }

  /** Nothing: all columns of a layer are computed at once. */
  @Override
  void parts() {}

  @Override
  void weights(Matmul product, BlockRef block) {
    staged(product, block, slices(block, product.k()), 1);
  }

  @Override
  Scope scope(Stage stage) {
    boolean operand =
        stage instanceof Load || stage instanceof Map map && SimtTiling.isOperand(group, map);
    return operand ? Scope.SHARED : Scope.FRAGMENT;
  }

  @Override
  Attrs product(Matmul product) {
    return tiling.attrs(product);
  }
}
