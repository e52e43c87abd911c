package dev.warpwright.networks.stages;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Which stages share a kernel. */
public final class Partition {
  private final NetworkFunction network;

  /** The stages that read a buffer. */
  private final java.util.Map<Buffer, List<Stage>> readers = new HashMap<>();

  private Partition(NetworkFunction network) {
    this.network = network;
    StageReads reads = StageReads.of(network.func());
    for (Stage stage : network.stages()) {
      for (Buffer buffer : reads.by(stage.block())) {
        readers.computeIfAbsent(buffer, b -> new ArrayList<>()).add(stage);
      }
    }
  }

  /** All of them. */
  public static List<List<Stage>> fused(NetworkFunction network) {
    return List.of(network.stages());
  }

  /**
   * As many consecutive stages for each kernel as a tile of one result needs nothing else for: a
   * product with the formulas behind it, sums over rows with the formula that uses them, or a
   * formula alone. Only the last stage of a group is read by others.
   */
  public static List<List<Stage>> byLayer(NetworkFunction network) {
    Partition partition = new Partition(network);
    List<Stage> stages = network.stages();
    List<List<Stage>> groups = new ArrayList<>();
    int first = 0;
    while (first < stages.size()) {
      int end = partition.end(first);
      groups.add(stages.subList(first, end));
      first = end;
    }
    return groups;
  }

  /** Past the last stage of the longest group that starts at a stage. */
  private int end(int first) {
    List<Stage> stages = network.stages();
    int best = first + 1;
    for (int end = first + 1; end < stages.size(); end++) {
      if (!joins(stages.get(first), stages.get(end - 1), stages.get(end))) {
        break;
      }
      if (isPrivate(stages.subList(first, end), stages.get(end))) {
        best = end + 1;
      }
    }
    return best;
  }

  /** Whether a tile of {@code next} can be computed where {@code first} and what follows it are. */
  private static boolean joins(Stage first, Stage last, Stage next) {
    if (next instanceof Map map && !map.pointwise()) {
      return false;
    }
    return switch (first) {
      case Load load -> false;
      case Matmul product ->
          (next instanceof Map || next instanceof Store) && width(next) == product.n();
      case Reduction reduction ->
          last instanceof Reduction && (next instanceof Reduction || next instanceof Map);
      case Map map ->
          next instanceof Store store && store.from() == map.to()
              || next instanceof Update update && update.from() == map.to();
      case Store _, Update _ -> false;
    };
  }

  private static long width(Stage stage) {
    return stage instanceof Store store ? store.from().extent(1) : written(stage).extent(1);
  }

  /** Whether nothing but the group and the stage behind it reads what the group writes. */
  private boolean isPrivate(List<Stage> group, Stage behind) {
    Set<Stage> inside = new HashSet<>(group);
    inside.add(behind);
    for (Stage stage : group) {
      Buffer buffer = written(stage);
      if (network.outputs().contains(buffer)
          || !inside.containsAll(readers.getOrDefault(buffer, List.of()))) {
        return false;
      }
    }
    return true;
  }

  /** The buffer that a stage computes. */
  public static Buffer written(Stage stage) {
    return switch (stage) {
      case Load load -> load.to();
      case Matmul product -> product.accumulator();
      case Reduction reduction -> reduction.to();
      case Map map -> map.to();
      case Store store -> store.to();
      case Update update -> update.to();
    };
  }
}
