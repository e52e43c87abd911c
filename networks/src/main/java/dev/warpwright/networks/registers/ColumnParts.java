package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StageReads;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Stages that compute a layer's columns part by part: a product, the formulas behind it at their
 * own columns, and what somebody needs whole. Of all but the last only a part exists at a time, so
 * of 256 columns of accumulators 128 are in registers.
 *
 * @param stages in order, all of which read the one before; the last one's columns are split
 * @param columns of a part
 */
record ColumnParts(List<Stage> stages, long columns) {
  private static final long NARROW = 64;

  /** Of a part. */
  private static final long LEAST = 32;

  ColumnParts {
    stages = List.copyOf(stages);
  }

  Stage last() {
    return stages.getLast();
  }

  /**
   * The parts of all layers that are wider, but for those of {@link #whole}.
   *
   * @param most columns of a part
   */
  static List<ColumnParts> of(StageGroup group, long most) {
    List<ColumnParts> parts = new ArrayList<>();
    for (List<Stage> layer : layers(group)) {
      long columns = ((Matmul) layer.getFirst()).n();
      long part = part(columns, most);
      if (part < columns && layer.size() > 1) {
        parts.add(new ColumnParts(layer, part));
      }
    }
    return parts;
  }

  /** By the accumulators of layers that have parts, how many columns of them one has. */
  static java.util.Map<Buffer, Long> columns(StageGroup group, long most) {
    java.util.Map<Buffer, Long> columns = new HashMap<>();
    for (ColumnParts layer : of(group, most)) {
      columns.put(Partition.written(layer.stages().getFirst()), layer.columns());
    }
    return java.util.Map.copyOf(columns);
  }

  /**
   * Accumulators of which all columns are needed at once: several stages read them, or one that
   * makes f32 of them, from which rows are reduced.
   */
  static Set<Buffer> whole(StageGroup group) {
    Set<Buffer> whole = new HashSet<>();
    for (List<Stage> layer : layers(group)) {
      if (layer.size() == 1) {
        whole.add(Partition.written(layer.getFirst()));
      }
    }
    return whole;
  }

  /** Each product with the stages behind it that read the one before, and nobody else does. */
  private static List<List<Stage>> layers(StageGroup group) {
    StageReads reads = StageReads.of(group.func());
    java.util.Map<Buffer, List<Stage>> readers = new HashMap<>();
    for (Stage stage : group.stages()) {
      Set<Buffer> others = new HashSet<>(reads.by(stage.block()));
      others.remove(Partition.written(stage));
      for (Buffer buffer : others) {
        readers.computeIfAbsent(buffer, b -> new ArrayList<>()).add(stage);
      }
    }
    List<List<Stage>> layers = new ArrayList<>();
    for (Matmul product : group.products()) {
      List<Stage> stages = new ArrayList<>(List.of(product));
      List<Stage> next = readers.getOrDefault(product.accumulator(), List.of());
      while (next.size() == 1 && isPointwise(next.getFirst(), product.n())) {
        stages.add(next.getFirst());
        next = readers.getOrDefault(Partition.written(stages.getLast()), List.of());
      }
      layers.add(stages);
    }
    return layers;
  }

  /** A formula whose results are narrower than accumulators, at its own columns. */
  private static boolean isPointwise(Stage stage, long width) {
    return switch (stage) {
      case Map map ->
          map.pointwise() && map.to().extent(1) == width && map.to().dtype().bytes() == 2;
      // Rows that leave through shared memory do so whole.
      case Store store -> store.from().extent(1) == width && !StoredResults.suit(store);
      default -> false;
    };
  }

  /**
   * Columns of a part: of so many, whole groups of 32 or, where they are none or only narrow ones,
   * of 16, within which constants are packed. A product whose operand is in registers takes as long
   * for 32 columns as for 64; so columns that have parts of 16 alone are not split if they are a
   * third more at most.
   */
  static long part(long columns, long most) {
    long wide = part(columns, most, 32);
    long part = wide >= Math.min(NARROW, Math.min(columns, most)) ? wide : part(columns, most, 16);
    return part < LEAST && 3 * columns <= 4 * most ? columns : part;
  }

  private static long part(long columns, long most, long granule) {
    for (long part = Math.min(columns, most) / granule * granule; part > 0; part -= granule) {
      if (columns % part == 0) {
        return part;
      }
    }
    return columns <= most ? columns : 16;
  }
}
