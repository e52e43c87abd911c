package dev.warpwright.networks.registers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Schedules a network so that some rows are carried through all layers in registers: what {@link
 * RegisterChain}, by warpgroups, and {@link WarpChain}, by warps, have in common, and {@link
 * SimtChain}, by warps that compute by fma.
 */
abstract class RowChain {
  final StageGroup group;
  final Schedule schedule;

  RowChain(StageGroup group) {
    this.group = group;
    this.schedule = new Schedule(group.func());
  }

  /** Says who carries the rows. */
  abstract void annotate();

  /** Computes layers by parts of their columns. */
  abstract void parts();

  /** Brings a weight to where its product, the block, reads it. */
  abstract void weights(Matmul product, BlockRef block);

  abstract Attrs product(Matmul product);

  /** Whether results whose rows fill no vectors leave through shared memory. */
  boolean stagesResults() {
    return false;
  }

  /** Where what a stage computes is. */
  Scope scope(Stage stage) {
    return Scope.FRAGMENT;
  }

  /**
   * The tile program.
   *
   * @param rows of an item
   * @param blocks that share the items
   * @param prefetch whether the next rows are read while these are computed
   */
  final Scheduled scheduled(long rows, long blocks, boolean prefetch) {
    annotate();
    wholeWidth();
    LoopRef items = items(rows);
    Set<Buffer> outside = new HashSet<>(group.func().buffers());
    for (BlockRef block : schedule.blocks().reversed()) {
      if (!results().contains(block.name())) {
        schedule.computeAt(block, items);
      }
    }
    parts();
    schedule.compactAll();
    for (Stage stage : group.stages()) {
      Buffer buffer = Partition.written(stage);
      if (!outside.contains(buffer)) {
        schedule.setScope(schedule.buffer(buffer.name()), scope(stage));
      }
    }
    for (Matmul product : group.products()) {
      weights(product, schedule.block(product.block()));
    }
    schedule.persistent(items, blocks);
    if (prefetch && group.readsRowsDirectly()) {
      schedule.annotate(items, "prefetch", 1L);
    }
    SequencedMap<BlockRef, Attrs> attrs = new LinkedHashMap<>();
    for (BlockRef block : schedule.blocks()) {
      attrs.put(block, attrs(block, prefetch));
    }
    schedule.tensorizeAll(attrs);
    return Scheduled.by(schedule);
  }

  /**
   * Splits the rows of all results; their loops over items are one, in which each result stands
   * behind what it is made of, and ahead of the next one.
   */
  private LoopRef items(long rows) {
    List<String> results = results();
    LoopRef items = items(results.getLast(), rows);
    for (String result : results.subList(0, results.size() - 1).reversed()) {
      schedule.merge(items(result, rows), items);
    }
    return items;
  }

  private LoopRef items(String block, long rows) {
    return schedule.split(schedule.loops(schedule.block(block)).getFirst(), rows).outer();
  }

  private List<String> results() {
    return group.stages().stream().filter(Store.class::isInstance).map(Stage::block).toList();
  }

  /** A store runs over the padded width, guarded. */
  private void wholeWidth() {
    for (Stage stage : group.stages()) {
      if (stage instanceof Store store && store.from().extent(1) != store.to().extent(1)) {
        schedule.split(
            schedule.loops(schedule.block(store.block())).get(1), store.from().extent(1));
      }
    }
  }

  /** Cuts a product's sums into slices; gives the loop over them. */
  final LoopRef slices(BlockRef block, long depth) {
    List<LoopRef> loops = schedule.loops(block);
    LoopRef col = loops.get(loops.size() - 2);
    LoopRef row = loops.get(loops.size() - 3);
    Schedule.Halves halves = schedule.split(loops.getLast(), depth);
    schedule.reorder(halves.outer(), row, col, halves.inner());
    return halves.outer();
  }

  /** Brings a weight into shared memory by its slices, so many of which are there at once. */
  final BlockRef staged(Matmul product, BlockRef block, LoopRef slices, int stages) {
    BlockRef staged =
        schedule.cacheRead(schedule.buffer(product.weight().name()), Scope.SHARED, block);
    schedule.computeAt(staged, slices);
    schedule.compact(schedule.buffer(staged.name()));
    schedule.decomposeReduction(block, slices);
    schedule.annotate(slices, "unrolled", 1L);
    schedule.pipeline(slices, stages);
    return staged;
  }

  private Attrs attrs(BlockRef block, boolean prefetch) {
    for (Stage stage : group.stages()) {
      if (stage.block().equals(block.name())) {
        return switch (stage) {
          case Matmul product -> product(product);
          case Load _ -> prefetch ? Attrs.NONE.with("prefetch", 1L) : Attrs.NONE;
          case Store store ->
              stagesResults() && StoredResults.suit(store)
                  ? Attrs.NONE.with("store", "rows")
                  : Attrs.NONE;
          case Map _, Reduction _, Update _ -> Attrs.NONE;
        };
      }
    }
    return Attrs.NONE;
  }
}
