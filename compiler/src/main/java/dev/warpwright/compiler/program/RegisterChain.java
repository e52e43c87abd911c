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
 * Schedules a network so that a warpgroup carries 64 rows through all layers in its registers: the
 * accumulators of a layer, rounded and packed, are the first operand of the next one's product.
 * Weights stay in shared memory as far as they fit, and flow through it otherwise.
 */
final class RegisterChain {
  /** Rows of a warpgroup's product. */
  static final int ROWS = 64;

  private final StageGroup group;
  private final ChainTiling tiling;
  private final Schedule schedule;

  private RegisterChain(StageGroup group, ChainTiling tiling) {
    this.group = group;
    this.tiling = tiling;
    this.schedule = new Schedule(group.func());
  }

  /** The tile program of a network that {@link ChainTiling#of} accepts. */
  static Scheduled schedule(StageGroup group, ChainTiling tiling) {
    RegisterChain chain = new RegisterChain(group, tiling);
    chain.script();
    return Scheduled.by(chain.schedule);
  }

  private void script() {
    schedule.annotate("consumers", (long) tiling.consumers());
    schedule.annotate("resident", tiling.residentBytes(group));
    wholeWidth();
    Stage last = group.stages().getLast();
    LoopRef rows =
        schedule.split(schedule.loops(schedule.block(last.block())).getFirst(), ROWS).outer();
    Set<Buffer> outside = new HashSet<>(group.func().buffers());
    for (BlockRef block : schedule.blocks().reversed()) {
      if (!block.name().equals(last.block())) {
        schedule.computeAt(block, rows);
      }
    }
    ColumnParts.of(group, tiling.columns()).forEach(this::byParts);
    schedule.compactAll();
    for (Stage stage : group.stages()) {
      Buffer buffer = Partition.written(stage);
      if (!outside.contains(buffer)) {
        schedule.setScope(schedule.buffer(buffer.name()), Scope.FRAGMENT);
      }
    }
    SequencedMap<BlockRef, Attrs> attrs = new LinkedHashMap<>();
    for (Product product : group.products()) {
      weights(product);
    }
    schedule.persistent(rows, tiling.blocks());
    for (BlockRef block : schedule.blocks()) {
      attrs.put(block, attrs(block));
    }
    schedule.tensorizeAll(attrs);
  }

  /** Computes what stands before a layer's last stage for a part of its columns at a time. */
  private void byParts(ColumnParts layer) {
    List<LoopRef> loops = schedule.loops(schedule.block(layer.last().block()));
    LoopRef row = loops.get(loops.size() - 2);
    Schedule.Halves parts = schedule.split(loops.getLast(), layer.columns());
    schedule.reorder(parts.outer(), row, parts.inner());
    schedule.unroll(parts.outer());
    List<Stage> before = layer.stages().subList(0, layer.stages().size() - 1);
    for (Stage stage : before.reversed()) {
      schedule.computeAt(schedule.block(stage.block()), parts.outer());
    }
  }

  /** A store runs over the padded width, guarded. */
  private void wholeWidth() {
    for (Stage stage : group.stages()) {
      if (stage instanceof Store store) {
        long width = store.from().extent(1);
        if (width != store.to().extent(1)) {
          schedule.split(schedule.loops(schedule.block(store.block())).get(1), width);
        }
      }
    }
  }

  /** Brings the weight into shared memory by slices along K. */
  private void weights(Product product) {
    BlockRef block = schedule.block(product.block());
    List<LoopRef> loops = schedule.loops(block);
    LoopRef k = loops.getLast();
    LoopRef col = loops.get(loops.size() - 2);
    LoopRef row = loops.get(loops.size() - 3);
    Schedule.Halves halves = schedule.split(k, tiling.depth(product));
    schedule.reorder(halves.outer(), row, col, halves.inner());
    BlockRef staged =
        schedule.cacheRead(schedule.buffer(product.weight().name()), Scope.SHARED, block);
    schedule.computeAt(staged, halves.outer());
    schedule.compact(schedule.buffer(staged.name()));
    schedule.decomposeReduction(block, halves.outer());
    schedule.annotate(halves.outer(), "unrolled", 1L);
    schedule.pipeline(halves.outer(), tiling.stages(product));
    if (tiling.isStreamed(product)) {
      schedule.annotate(staged, "stream", 1L);
    }
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
    Attrs attrs = Attrs.NONE.with("instr", tiling.instruction(product));
    boolean slices = tiling.depth(product) < product.k() && tiling.stages(product) > 1;
    return slices ? attrs.with("inflight", 1L) : attrs;
  }
}
