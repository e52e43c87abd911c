package dev.warpwright.compiler.program;

import dev.warpwright.compiler.stages.Partition;
import dev.warpwright.compiler.stages.StageGroup;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Schedules a network so that a warp carries some rows through all layers in its registers, as
 * {@link RegisterChain} does for warpgroups. Weights stay in shared memory, or are read from memory
 * each time.
 */
final class WarpChain {
  private final StageGroup group;
  private final WarpTiling tiling;
  private final Schedule schedule;

  private WarpChain(StageGroup group, WarpTiling tiling) {
    this.group = group;
    this.tiling = tiling;
    this.schedule = new Schedule(group.func());
  }

  /** The tile program of a network that {@link WarpTiling#refusal} does not refuse. */
  static Scheduled schedule(StageGroup group, WarpTiling tiling) {
    WarpChain chain = new WarpChain(group, tiling);
    chain.script();
    return Scheduled.by(chain.schedule);
  }

  private void script() {
    schedule.annotate("consumers", (long) tiling.warps());
    schedule.annotate("warps", 1L);
    schedule.annotate("resident", tiling.bytes(group));
    wholeWidth();
    Stage last = group.stages().getLast();
    LoopRef rows =
        schedule
            .split(schedule.loops(schedule.block(last.block())).getFirst(), tiling.rows())
            .outer();
    for (BlockRef block : schedule.blocks().reversed()) {
      if (!block.name().equals(last.block())) {
        schedule.computeAt(block, rows);
      }
    }
    schedule.compactAll();
    Set<Buffer> outside = new HashSet<>(group.func().buffers());
    for (Stage stage : group.stages()) {
      Buffer buffer = Partition.written(stage);
      if (!outside.contains(buffer)) {
        schedule.setScope(schedule.buffer(buffer.name()), Scope.FRAGMENT);
      }
    }
    for (Product product : group.products()) {
      weights(product);
    }
    schedule.persistent(rows, tiling.blocks());
    SequencedMap<BlockRef, Attrs> attrs = new LinkedHashMap<>();
    for (BlockRef block : schedule.blocks()) {
      attrs.put(block, attrs(block));
    }
    schedule.tensorizeAll(attrs);
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

  /** Brings the whole weight into shared memory, if it stays there. */
  private void weights(Product product) {
    BlockRef block = schedule.block(product.block());
    List<LoopRef> loops = schedule.loops(block);
    LoopRef col = loops.get(loops.size() - 2);
    LoopRef row = loops.get(loops.size() - 3);
    Schedule.Halves halves = schedule.split(loops.getLast(), product.k());
    schedule.reorder(halves.outer(), row, col, halves.inner());
    if (!tiling.stays(product)) {
      schedule.decomposeReduction(block, halves.outer());
      return;
    }
    BlockRef staged =
        schedule.cacheRead(schedule.buffer(product.weight().name()), Scope.SHARED, block);
    schedule.computeAt(staged, halves.outer());
    schedule.compact(schedule.buffer(staged.name()));
    schedule.decomposeReduction(block, halves.outer());
    schedule.annotate(halves.outer(), "unrolled", 1L);
    schedule.pipeline(halves.outer(), 1);
  }

  private Attrs attrs(BlockRef block) {
    for (Stage stage : group.stages()) {
      if (stage.block().equals(block.name())) {
        return switch (stage) {
          case Product product -> product(product);
          case Load _ -> tiling.prefetch() ? Attrs.NONE.with("prefetch", 1L) : Attrs.NONE;
          case Map _, Reduction _, Store _ -> Attrs.NONE;
        };
      }
    }
    return Attrs.NONE;
  }

  private Attrs product(Product product) {
    Attrs attrs = Attrs.NONE.with("instr", WarpTiling.instruction(product));
    long part = tiling.part(product);
    return part < product.n() ? attrs.with("part", part) : attrs;
  }
}
