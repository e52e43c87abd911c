package dev.warpwright.networks.layers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Norm;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.networks.stages.Partition;
import dev.warpwright.networks.stages.StageReads;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A network of a fixed number of rows as the kernels that compute it where its layers are wide:
 * GEMMs of the families with what their epilogues have, formulas between them. The two products of
 * a gated linear unit are one GEMM, whose result is half as wide.
 */
public final class LayerParts {
  /**
   * What a kernel computes: stages, and how the families see them.
   *
   * @param inGemms whether the GEMMs that read it do it themselves, so that no kernel does
   */
  public record Part(List<Stage> stages, @Nullable LayerGemm product, boolean inGemms) {
    public Part(List<Stage> stages, @Nullable LayerGemm product) {
      this(stages, product, false);
    }
  }

  private final NetworkFunction network;
  private final Precision precision;
  private final Predicate<GemmWorkload> has;
  private final java.util.Map<Buffer, Matmul> products = new HashMap<>();
  private final java.util.Map<Buffer, Set<String>> readers = new HashMap<>();

  private LayerParts(NetworkFunction network, Precision precision, Predicate<GemmWorkload> has) {
    this.network = network;
    this.precision = precision;
    this.has = has;
    StageReads reads = StageReads.of(network.func());
    for (Stage stage : network.stages()) {
      if (stage instanceof Matmul product) {
        products.put(product.accumulator(), product);
      }
      for (Buffer buffer : reads.by(stage.block())) {
        readers.computeIfAbsent(buffer, b -> new HashSet<>()).add(stage.block());
      }
    }
  }

  /**
   * The parts, in order.
   *
   * @param has whether the families have a kernel of a GEMM
   */
  public static List<Part> of(
      NetworkFunction network, Precision precision, Predicate<GemmWorkload> has) {
    return new LayerParts(network, precision, has).parts();
  }

  /** The same, where GEMMs norm the rows that they read, if they can and nobody else reads them. */
  public static List<Part> normed(
      NetworkFunction network, Precision precision, Predicate<GemmWorkload> has) {
    LayerParts layers = new LayerParts(network, precision, has);
    List<Part> parts = new ArrayList<>(layers.parts());
    network.norms().forEach(norm -> layers.norm(norm, parts));
    return parts;
  }

  private void norm(Norm norm, List<Part> parts) {
    List<Part> normed = new ArrayList<>(parts);
    Set<String> others = new HashSet<>(readers.getOrDefault(norm.to(), Set.of()));
    boolean found = false;
    boolean written = network.inputs().contains(norm.x());
    for (int i = 0; i < parts.size(); i++) {
      LayerGemm gemm = parts.get(i).product();
      List<Stage> stages = parts.get(i).stages();
      if (gemm != null && gemm.product().a() == norm.to()) {
        LayerGemm own = gemm.normed(norm);
        // What is kept in f32 may be rounded later, for others.
        if (own == null || !written || !has.test(own.workload())) {
          return;
        }
        normed.set(i, new Part(stages, own));
        stages.forEach(stage -> others.remove(stage.block()));
      } else if (gemm == null && stages.getLast() instanceof Map map && map.to() == norm.to()) {
        found = stages.getFirst() instanceof Reduction;
        normed.set(i, new Part(stages, null, true));
      }
      for (Stage stage : stages) {
        written |= Partition.written(stage) == norm.x();
      }
    }
    if (found && others.isEmpty() && !network.outputs().contains(norm.to())) {
      parts.clear();
      parts.addAll(normed);
    }
  }

  private List<Part> parts() {
    List<List<Stage>> groups = Partition.byLayer(network);
    java.util.Map<Stage, LayerGemm> gated = new HashMap<>();
    Set<Stage> taken = new HashSet<>();
    for (List<Stage> group : groups) {
      for (int i = 0; i < group.size(); i++) {
        LayerGemm glu = LayerGemm.glu(group.subList(i, group.size()), products, precision);
        if (glu != null && isPrivate(glu, group.get(i)) && has.test(glu.workload())) {
          gated.put(group.get(i), glu);
          taken.addAll(glu.stages());
        }
      }
    }
    List<Part> parts = new ArrayList<>();
    for (List<Stage> group : groups) {
      int first = 0;
      for (int i = 0; i < group.size(); i++) {
        LayerGemm glu = gated.get(group.get(i));
        if (glu != null) {
          add(rest(group.subList(first, i), taken), parts);
          parts.add(new Part(glu.stages(), glu));
          first = i + 1;
        }
      }
      add(rest(group.subList(first, group.size()), taken), parts);
    }
    return parts;
  }

  /** Whether nothing but a formula reads the products of a gated linear unit. */
  private boolean isPrivate(LayerGemm glu, Stage formula) {
    for (Matmul product : List.of(glu.product(), Objects.requireNonNull(glu.up()))) {
      Set<String> others = new HashSet<>(readers.getOrDefault(product.accumulator(), Set.of()));
      others.removeAll(List.of(product.block(), formula.block()));
      if (!others.isEmpty() || network.outputs().contains(product.accumulator())) {
        return false;
      }
    }
    return true;
  }

  private static List<Stage> rest(List<Stage> stages, Set<Stage> taken) {
    return stages.stream().filter(stage -> !taken.contains(stage)).toList();
  }

  private void add(List<Stage> group, List<Part> parts) {
    if (group.isEmpty()) {
      return;
    }
    LayerGemm product = LayerGemm.of(group, precision);
    if (product != null && has.test(product.workload())) {
      parts.add(new Part(product.stages(), product));
      formulas(group.subList(product.stages().size(), group.size()), parts);
    } else {
      parts.add(new Part(group, null));
    }
  }

  /** What no epilogue has: each formula by itself, with the copy of its result to an output. */
  private static void formulas(List<Stage> stages, List<Part> parts) {
    int next = 0;
    while (next < stages.size()) {
      boolean pair =
          next + 1 < stages.size()
              && stages.get(next) instanceof Map map
              && stages.get(next + 1) instanceof Store store
              && store.from() == map.to();
      int end = next + (pair ? 2 : 1);
      parts.add(new Part(stages.subList(next, end), null));
      next = end;
    }
  }
}
