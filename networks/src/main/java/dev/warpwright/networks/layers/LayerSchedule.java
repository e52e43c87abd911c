package dev.warpwright.networks.layers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.rows.GpuTiling;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.BufferRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Schedules the stages of a group from {@link Partition#byLayer}: a block computes one tile of the
 * group's only result, from operands in global memory. A product takes slices of both operands
 * along K through shared memory and keeps its accumulators, and all formulas behind it, in
 * registers.
 */
public final class LayerSchedule {
  private final StageGroup group;
  private final LayerTiling tiling;
  private final Schedule schedule;
  private final Map<String, Attrs> attrs = new HashMap<>();

  private LayerSchedule(StageGroup group, LayerTiling tiling) {
    this.group = group;
    this.tiling = tiling;
    this.schedule = new Schedule(group.func());
  }

  public static Scheduled gpu(StageGroup group, LayerTiling tiling) {
    LayerSchedule script = new LayerSchedule(group, tiling);
    script.schedule.annotate("threads", (long) tiling.threads());
    long elements = (long) tiling.rows() * tiling.cols() / tiling.threads();
    script.schedule.annotate("minBlocks", GpuTiling.minBlocks(tiling.threads(), elements));
    switch (group.stages().getFirst()) {
      case Matmul product -> script.product(product);
      case NetworkFunction.Reduction reduction -> script.reductions();
      case NetworkFunction.Load load -> script.formulas();
      case NetworkFunction.Map map -> script.formulas();
      case Store _, NetworkFunction.Update _ -> script.formulas();
    }
    for (BlockRef block : List.copyOf(script.schedule.blocks())) {
      script.schedule.tensorize(block, script.attrs.getOrDefault(block.name(), Attrs.NONE));
    }
    return Scheduled.by(script.schedule);
  }

  private void product(Matmul product) {
    List<Computed> computed = new ArrayList<>();
    BlockRef last = writing(Scope.FRAGMENT, computed);
    Tiles tiles = tile(last, tiling.cols());
    gather(computed, tiles.cols(), Scope.FRAGMENT);

    BlockRef block = schedule.block(product.block());
    List<LoopRef> loops = schedule.loops(block);
    LoopRef k = loops.getLast();
    LoopRef col = loops.get(loops.size() - 2);
    LoopRef row = loops.get(loops.size() - 3);
    Schedule.Halves depth = schedule.split(k, tiling.depth());
    schedule.reorder(depth.outer(), row, col, depth.inner());
    for (Buffer operand : List.of(product.a(), product.weight())) {
      BlockRef staged = schedule.cacheRead(schedule.buffer(operand.name()), Scope.SHARED, block);
      schedule.computeAt(staged, depth.outer());
      schedule.compact(schedule.buffer(staged.name()));
    }
    schedule.decomposeReduction(block, depth.outer());
    attrs.put(product.block(), tiling.attrs(product));
    schedule.bind(tiles.rows(), ThreadAxis.BLOCK_X);
    schedule.bind(tiles.cols(), ThreadAxis.BLOCK_Y);
  }

  /** Sums of whole rows, then their formula a part of the columns at a time. */
  private void reductions() {
    List<Computed> computed = new ArrayList<>();
    boolean whole = isWhole();
    BlockRef last = whole ? computing(computed) : writing(Scope.SHARED, computed);
    List<LoopRef> loops = schedule.loops(last);
    if (loops.size() == 1) {
      LoopRef rows = schedule.split(loops.getFirst(), tiling.rows()).outer();
      gather(computed, rows, Scope.SHARED);
      schedule.bind(rows, ThreadAxis.BLOCK_X);
      return;
    }
    Tiles tiles = tile(last, tiling.cols());
    if (!whole) {
      gather(List.of(computed.removeLast()), tiles.cols(), Scope.SHARED);
    }
    gather(computed, tiles.rows(), Scope.SHARED);
    schedule.bind(tiles.rows(), ThreadAxis.BLOCK_X);
  }

  private void formulas() {
    List<Computed> computed = new ArrayList<>();
    BlockRef last = isWhole() ? computing(computed) : writing(Scope.SHARED, computed);
    Tiles tiles = tile(last, tiling.cols());
    gather(computed, tiles.cols(), Scope.SHARED);
    schedule.bind(tiles.rows(), ThreadAxis.BLOCK_X);
    schedule.bind(tiles.cols(), ThreadAxis.BLOCK_Y);
  }

  /** Whether the result is so many whole tiles: nothing is left out. */
  private boolean isWhole() {
    boolean[] whole = {false};
    Walk.statements(
        group.func().body(),
        s -> {
          if (s instanceof Stmt.Block block
              && block.name().equals(group.stages().getLast().block())
              && block.iterVars().size() == 2) {
            whole[0] =
                isMultiple(block.iterVars().get(0).extent(), tiling.rows())
                    && isMultiple(block.iterVars().get(1).extent(), tiling.cols());
          }
        });
    return whole[0];
  }

  private static boolean isMultiple(Expr extent, long of) {
    return extent instanceof Expr.IntImm imm && imm.value() % of == 0;
  }

  /**
   * The block that computes the result and writes it at once, as it can where nothing is left out.
   * The others are added to {@code computed}, in order.
   */
  private BlockRef computing(List<Computed> computed) {
    List<Stage> stages = group.stages();
    int end = stages.size() - 1;
    if (end > 0
        && stages.get(end) instanceof Store store
        && stages.get(end - 1) instanceof NetworkFunction.Map map
        && store.from() == map.to()) {
      schedule.computeInline(schedule.block(map.block()));
      end--;
    }
    for (Stage stage : stages.subList(0, end)) {
      BufferRef buffer = schedule.buffer(Partition.written(stage).name());
      computed.add(new Computed(schedule.block(stage.block()), buffer));
    }
    return schedule.block(stages.getLast().block());
  }

  /**
   * The block that writes the result, which is a copy: the last stage itself or one behind it,
   * because only copies may leave out what is outside of a buffer. The others are added to {@code
   * computed}, in order.
   */
  private BlockRef writing(Scope scope, List<Computed> computed) {
    for (Stage stage : group.stages()) {
      BufferRef buffer = schedule.buffer(Partition.written(stage).name());
      computed.add(new Computed(schedule.block(stage.block()), buffer));
    }
    Computed last = computed.removeLast();
    if (group.stages().getLast() instanceof Store) {
      return last.block();
    }
    Schedule.Written written = schedule.cacheWrite(last.block(), scope);
    computed.add(new Computed(last.block(), written.buffer()));
    return written.copy();
  }

  /** A block and what it computes. */
  private record Computed(BlockRef block, BufferRef buffer) {}

  private record Tiles(LoopRef rows, LoopRef cols) {}

  private Tiles tile(BlockRef last, int cols) {
    List<LoopRef> loops = schedule.loops(last);
    Schedule.Halves rows = schedule.split(loops.get(0), tiling.rows());
    Schedule.Halves columns = schedule.split(loops.get(1), cols);
    schedule.reorder(rows.outer(), columns.outer(), rows.inner(), columns.inner());
    return new Tiles(rows.outer(), columns.outer());
  }

  /** Computes blocks for each tile, in memory of the tile's size. */
  private void gather(List<Computed> blocks, LoopRef loop, Scope scope) {
    for (Computed computed : blocks.reversed()) {
      schedule.computeAt(computed.block(), loop);
    }
    for (Computed computed : blocks) {
      schedule.compact(computed.buffer());
      schedule.setScope(computed.buffer(), scope);
    }
  }
}
