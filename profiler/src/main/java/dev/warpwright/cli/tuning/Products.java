package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.workload.GemmWorkload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a command tunes or measures: {@code gemm}, or the products of a network that is too wide for
 * one kernel.
 *
 * @param name for reports
 * @param counts how often each product occurs, in the order of the first
 */
record Products(String name, Map<GemmWorkload, Integer> counts) {
  public Products {
    counts = java.util.Collections.unmodifiableMap(new LinkedHashMap<>(counts));
  }

  /** One product by itself. */
  static Products one(GemmWorkload workload) {
    return new Products("gemm", Map.of(workload, 1));
  }

  /** Whether this is one product that was asked for as such. */
  boolean isOne() {
    return name.equals("gemm");
  }

  /** The products, each once. */
  List<GemmWorkload> workloads() {
    return List.copyOf(counts.keySet());
  }

  /**
   * Reads a task.
   *
   * @param what {@code gemm}
   * @param values of which those that belong to the products are asked for
   * @throws UserError if it is none
   */
  static Products of(String what, KeyValues values) {
    return switch (what) {
      case "gemm" -> new Products("gemm", Map.of(GemmArguments.read(values), 1));
      default -> throw new UserError("'" + what + "' is no GEMM; what is one is gemm");
    };
  }

  /**
   * The products of a network that is too wide for one kernel.
   *
   * @throws UserError if the families compute none of them
   */
  static Products of(NetworkTask wide) {
    List<GemmWorkload> products =
        NetworkCompiler.products(wide.graph(), wide.precision(), wide.rows());
    if (products.isEmpty()) {
      throw new UserError(
          wide.text()
              + ": no GEMM of the network is one of the families' in "
              + wide.precision().text());
    }
    return counted(wide.what(), products);
  }

  /** The keys of a kind, for messages. */
  static String keys(String what) {
    return switch (what) {
      case "gemm" -> GemmArguments.KEYS;
      default -> NetworkTask.keys(what);
    };
  }

  private static Products counted(String name, List<GemmWorkload> products) {
    Map<GemmWorkload, Integer> counts = new LinkedHashMap<>();
    products.forEach(product -> counts.merge(product, 1, Integer::sum));
    return new Products(name, counts);
  }
}
