package dev.warpwright.networks.rows;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.Scheduled;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StageReads;
import dev.warpwright.schedule.BlockRef;
import dev.warpwright.schedule.LoopRef;
import dev.warpwright.schedule.Schedule;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Schedules stages so that one block computes all of them for a tile of rows: activations stay in
 * shared memory (on the CPU: in a core's cache), accumulators in registers, weights pass through
 * shared memory in slices along K.
 */
public final class RowBlockSchedule {
  private final StageGroup group;
  private final Schedule schedule;
  private final StageReads reads;
  private final Set<Buffer> outside = new HashSet<>();

  private RowBlockSchedule(StageGroup group) {
    this.group = group;
    this.reads = StageReads.of(group.func());
    this.schedule = new Schedule(group.func());
    outside.addAll(group.func().buffers());
  }

  /** For a GPU. */
  public static Scheduled gpu(StageGroup group, GpuTiling tiling, String instruction) {
    RowBlockSchedule script = new RowBlockSchedule(group);
    script.schedule.annotate("threads", (long) tiling.threads());
    script.schedule.annotate("minBlocks", tiling.minBlocks(group));
    if (tiling.columns() > 0) {
      script.schedule.annotate("fast", 1L);
    }
    script.align(tiling, instruction);
    LoopRef rows = script.tileRows(tiling.rows());
    script.gather(rows);
    script.scopes(true);
    for (Matmul product : group.products()) {
      script.stageWeights(product, tiling.depthOf(product));
    }
    // Last, because until it is in place every buffer is still shared by all rows.
    script.schedule.bind(rows, ThreadAxis.BLOCK_X);
    script.tensorize(tiling, instruction);
    return Scheduled.by(script.schedule);
  }

  /**
   * For the cores of the host: whole products, no staging; the weights' layout is the lowering's
   * choice.
   */
  public static Scheduled host(StageGroup group, HostTiling tiling) {
    RowBlockSchedule script = new RowBlockSchedule(group);
    LoopRef tiles = script.tileRows(tiling.rows());
    script.gather(tiles);
    script.scopes(false);
    if (tiling.parallelRows()) {
      script.schedule.parallel(tiles);
    }
    script.tensorize(null, "fma");
    return Scheduled.by(script.schedule);
  }

  /**
   * Splits the rows of the last stage, and of what else is read outside; they share the loop over
   * tiles, where everything else goes.
   */
  private LoopRef tileRows(int rows) {
    for (Stage stage : group.stages()) {
      if (stage instanceof NetworkFunction.Store store) {
        wholeWidth(store);
      }
    }
    Stage last = group.stages().getLast();
    LoopRef tiles = splitRows(last, rows);
    for (Stage stage : group.stages()) {
      if (stage != last && outside.contains(Partition.written(stage))) {
        schedule.merge(splitRows(stage, rows), tiles);
      }
    }
    return tiles;
  }

  private LoopRef splitRows(Stage stage, int rows) {
    return schedule.split(schedule.loops(schedule.block(stage.block())).getFirst(), rows).outer();
  }

  /**
   * Lets a store run over the padded width, guarded, so that what it stores is computed in whole
   * granules.
   */
  private void wholeWidth(NetworkFunction.Store store) {
    long width = store.from().extent(1);
    if (width != store.to().extent(1)) {
      schedule.split(schedule.loops(schedule.block(store.block())).get(1), width);
    }
  }

  /** Computes every stage where a result needs it, and makes the buffers as small as a tile. */
  private void gather(LoopRef rows) {
    Set<String> results = new HashSet<>();
    for (Stage stage : group.stages()) {
      if (outside.contains(Partition.written(stage))) {
        results.add(stage.block());
      }
    }
    for (BlockRef block : schedule.blocks().reversed()) {
      if (!results.contains(block.name())) {
        schedule.computeAt(block, rows);
      }
    }
    schedule.compactAll();
  }

  /**
   * Accumulators, and results that are only stored, in registers; everything else in the block's
   * memory. The host keeps its accumulators in memory too: the lowering holds a few in registers at
   * a time.
   */
  private void scopes(boolean gpu) {
    Set<Buffer> accumulators = new HashSet<>();
    for (Stage stage : group.stages()) {
      Buffer buffer = Partition.written(stage);
      if (outside.contains(buffer)) {
        continue;
      }
      boolean registers =
          switch (stage) {
            case Matmul product -> gpu;
            case NetworkFunction.Map map -> gpu && isStoredOnly(map) && readsAny(map, accumulators);
            case NetworkFunction.Load load -> false;
            case NetworkFunction.Reduction reduction -> false;
            case NetworkFunction.Store _, NetworkFunction.Update _ -> false;
          };
      if (stage instanceof Matmul && gpu) {
        accumulators.add(buffer);
      }
      schedule.setScope(schedule.buffer(buffer.name()), registers ? Scope.FRAGMENT : Scope.SHARED);
    }
  }

  private boolean isStoredOnly(NetworkFunction.Map map) {
    return group.stages().stream()
        .anyMatch(s -> s instanceof NetworkFunction.Store store && store.from() == map.to());
  }

  private boolean readsAny(NetworkFunction.Map map, Set<Buffer> accumulators) {
    return reads.by(map.block()).stream().anyMatch(accumulators::contains);
  }

  /**
   * A formula finds the accumulators that it reads in the registers of one thread only if they are
   * spread alike. Where products of different instructions meet, all but the first kind go through
   * shared memory.
   */
  private void align(GpuTiling tiling, String instruction) {
    List<Matmul> products = group.products();
    for (Stage stage : group.stages()) {
      if (!(stage instanceof NetworkFunction.Map map)) {
        continue;
      }
      Set<Buffer> read = reads.by(map.block());
      Attrs spread = null;
      for (Matmul product : products) {
        if (!read.contains(product.accumulator())) {
          continue;
        }
        Attrs attrs = tiling.attrs(product, instruction);
        if (spread == null) {
          spread = attrs;
        } else if (!spread.equals(attrs)) {
          schedule.cacheRead(
              schedule.buffer(product.accumulator().name()),
              Scope.SHARED,
              schedule.block(map.block()));
        }
      }
    }
  }

  /** Brings slices of the weight through shared memory and accumulates slice by slice. */
  private void stageWeights(Matmul product, long depth) {
    BlockRef block = schedule.block(product.block());
    List<LoopRef> loops = schedule.loops(block);
    LoopRef k = loops.getLast();
    LoopRef col = loops.get(loops.size() - 2);
    LoopRef row = loops.get(loops.size() - 3);
    Schedule.Halves halves = schedule.split(k, depth);
    schedule.reorder(halves.outer(), row, col, halves.inner());
    BlockRef staged =
        schedule.cacheRead(schedule.buffer(product.weight().name()), Scope.SHARED, block);
    schedule.computeAt(staged, halves.outer());
    schedule.compact(schedule.buffer(staged.name()));
    schedule.decomposeReduction(block, halves.outer());
  }

  private void tensorize(@Nullable GpuTiling tiling, String instruction) {
    Map<String, Matmul> products = new HashMap<>();
    for (Matmul product : group.products()) {
      products.put(product.block(), product);
    }
    SequencedMap<BlockRef, Attrs> attrs = new LinkedHashMap<>();
    for (BlockRef block : schedule.blocks()) {
      Matmul product = products.get(block.name());
      Attrs own = Attrs.NONE;
      if (product != null) {
        own = tiling == null ? Attrs.NONE.with("instr", "fma") : tiling.attrs(product, instruction);
      }
      attrs.put(block, own);
    }
    schedule.tensorizeAll(attrs);
  }
}
