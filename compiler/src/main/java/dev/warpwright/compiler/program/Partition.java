package dev.warpwright.compiler.program;

import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import java.util.ArrayList;
import java.util.List;

/** Which stages share a kernel. */
final class Partition {
  private Partition() {}

  /** All of them. */
  static List<List<Stage>> fused(NetworkFunction network) {
    return List.of(network.stages());
  }

  /**
   * One product with the formulas behind it for each kernel; what comes before the first product,
   * and reductions with what follows up to the next product, are kernels of their own.
   */
  static List<List<Stage>> byLayer(NetworkFunction network) {
    List<List<Stage>> groups = new ArrayList<>();
    List<Stage> current = new ArrayList<>();
    boolean hasProduct = false;
    for (Stage stage : network.stages()) {
      boolean starts = stage instanceof Product || (stage instanceof Reduction && hasProduct);
      if (starts && !current.isEmpty()) {
        groups.add(current);
        current = new ArrayList<>();
        hasProduct = false;
      }
      current.add(stage);
      hasProduct |= stage instanceof Product;
    }
    if (!current.isEmpty()) {
      groups.add(current);
    }
    return groups;
  }
}
