package dev.warpwright.compiler.predict;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.perf.TileTraffic;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a network would move with a kernel for each stage, against which fusion is judged. */
public final class UnfusedTraffic {
  private UnfusedTraffic() {}

  /** Bytes: each stage reads its operands and writes its result once. */
  public static long bytes(NetworkFunction network, Map<Var, Long> scalars) {
    long[] total = {0};
    Walk.statements(
        network.func().body(),
        s -> {
          if (s instanceof Stmt.Block block) {
            Set<Buffer> touched = new LinkedHashSet<>();
            Walk.all(
                block.body(),
                inner -> {
                  if (inner instanceof Stmt.Store store) {
                    touched.add(store.buffer());
                  }
                },
                e -> {
                  if (e instanceof Expr.Load load) {
                    touched.add(load.buffer());
                  }
                });
            for (Buffer buffer : touched) {
              total[0] += TileTraffic.bytes(buffer, scalars);
            }
          }
        });
    return total[0];
  }

  /**
   * What the network would move with a kernel for each layer, which reads the network's inputs as
   * they are.
   *
   * @param kernels launches
   * @param bytes each kernel reads its operands and writes its result once
   */
  public record ByLayer(int kernels, long bytes) {}

  /** With a kernel for each layer, formulas in the epilogues. */
  public static ByLayer byLayer(NetworkFunction network, Map<Var, Long> scalars) {
    Map<Buffer, Buffer> copies = new HashMap<>();
    for (NetworkFunction.Stage stage : network.stages()) {
      if (stage instanceof NetworkFunction.Load load) {
        copies.put(load.to(), load.from());
      }
    }
    List<List<NetworkFunction.Stage>> layers =
        Partition.byLayer(network).stream()
            .filter(layer -> !layer.stream().allMatch(s -> s instanceof NetworkFunction.Load))
            .toList();
    long bytes = 0;
    for (StageGroup group : StageGroup.split(network, layers)) {
      for (Buffer buffer : group.func().buffers()) {
        bytes += TileTraffic.bytes(copies.getOrDefault(buffer, buffer), scalars);
      }
    }
    return new ByLayer(layers.size(), bytes);
  }
}
