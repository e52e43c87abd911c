package dev.warpwright.networks.registers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.ArrayList;
import java.util.List;

/**
 * Schedules a network so that a warpgroup carries 64 rows through all layers in its registers: the
 * accumulators of a layer, rounded and packed, are the first operand of the next one's product.
 * Weights stay in shared memory as far as they fit, and flow through it otherwise.
 */
public final class RegisterChain extends RowChain {
  /** Rows of a warpgroup's product. */
  public static final int ROWS = 64;

  private final ChainTiling tiling;

  private RegisterChain(StageGroup group, ChainTiling tiling) {
    super(group);
    this.tiling = tiling;
  }

  /** The tile program of a network, tiled as one of the candidates of {@link ChainTiling}. */
  public static Scheduled schedule(StageGroup group, ChainTiling tiling) {
    return new RegisterChain(group, tiling).scheduled(ROWS, tiling.blocks(), tiling.prefetch());
  }

  @Override
  void annotate() {
    schedule.annotate("consumers", (long) tiling.consumers());
    schedule.annotate("resident", tiling.weights().residentBytes(group.products()));
  }

  @Override
  boolean stagesResults() {
    return tiling.stagesResults();
  }

  @Override
  void parts() {
    ColumnParts.of(group, tiling.columns()).forEach(this::byParts);
  }

  /** Computes what stands before a layer's last stage for a part of its columns at a time. */
  private void byParts(ColumnParts layer) {
    List<LoopRef> loops = schedule.loops(schedule.block(layer.last().block()));
    Schedule.Halves parts = schedule.split(loops.getLast(), layer.columns());
    // Of a store of padded columns, one of a single pass stands between rows and columns.
    List<LoopRef> ordered = new ArrayList<>(loops.subList(1, loops.size() - 1));
    ordered.addFirst(parts.outer());
    ordered.addLast(parts.inner());
    schedule.reorder(ordered.toArray(LoopRef[]::new));
    schedule.unroll(parts.outer());
    List<Stage> before = layer.stages().subList(0, layer.stages().size() - 1);
    for (Stage stage : before.reversed()) {
      schedule.computeAt(schedule.block(stage.block()), parts.outer());
    }
  }

  /** By slices along K. */
  @Override
  void weights(Matmul product, BlockRef block) {
    LoopRef slices = slices(block, tiling.weights().depth(product));
    BlockRef staged = staged(product, block, slices, tiling.weights().stages(product));
    if (tiling.weights().flows(product)) {
      schedule.annotate(staged, "stream", 1L);
      if (tiling.weights().slices() > 1) {
        schedule.annotate(slices, "slices", (long) tiling.weights().slices());
      }
    }
  }

  @Override
  Attrs product(Matmul product) {
    Attrs attrs = Attrs.NONE.with("instr", tiling.instruction(product));
    StagedWeights weights = tiling.weights();
    boolean slices =
        weights.depth(product) < product.k()
            && weights.stages(product) > 1
            && weights.slices() == 1;
    return slices ? attrs.with("inflight", 1L) : attrs;
  }
}
