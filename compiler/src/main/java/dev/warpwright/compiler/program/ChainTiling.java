package dev.warpwright.compiler.program;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * How a network is carried through the registers of warpgroups.
 *
 * @param consumers warpgroups of a block, each with rows of its own
 * @param resident weights that stay in shared memory
 * @param depth columns of the slices by which the others flow through it
 * @param stages slices that there is space for
 * @param prefetch whether the next rows are read while these are computed
 * @param blocks of the grid
 */
record ChainTiling(
    int consumers, Set<Buffer> resident, long depth, int stages, boolean prefetch, int blocks) {
  private static final long MOST_COLUMNS = 256;

  /** Of shared memory: barriers, and what alignment may cost. */
  private static final long SLACK = 4096;

  /** 32-bit registers that addresses and what is under way need. */
  private static final int OTHER_REGISTERS = 16;

  private static final int MOST_CONSUMERS = 6;
  private static final int WARPGROUP = 128;

  ChainTiling {
    resident = Set.copyOf(resident);
  }

  /** Why a network cannot be carried so; empty if nothing is known to be in the way. */
  static String refusal(StageGroup group, GpuTarget target) {
    if (!target.hasHopper()) {
      return target.name() + " has no products with operands in registers of a warpgroup";
    }
    if (group.products().isEmpty()) {
      return "it has no products";
    }
    for (Product product : group.products()) {
      DType type = product.weight().dtype();
      if (product.exact() || !product.transposed() || type.bytes() != 2) {
        return product.block() + " is no product of 16-bit operands";
      }
      if (product.n() > MOST_COLUMNS || product.k() > MOST_COLUMNS) {
        return product.block()
            + " is wider than the "
            + MOST_COLUMNS
            + " columns that registers hold";
      }
    }
    if (group.writes().size() != 1 || !(group.stages().getLast() instanceof Store)) {
      return "it has several results";
    }
    for (Stage stage : group.stages()) {
      if (stage instanceof Reduction || stage instanceof Map map && !map.pointwise()) {
        return stage.block() + " needs other columns than its own";
      }
    }
    return "";
  }

  /**
   * What to try, the presumably fastest first: as many warpgroups as registers allow, and fewer.
   *
   * @param blocks of the grid
   */
  static List<ChainTiling> candidates(StageGroup group, GpuTarget target, int blocks) {
    List<Product> products = group.products();
    long most = 0;
    long first = 0;
    for (Product product : products) {
      most = Math.max(most, product.n() / 2 + product.k() / 4);
    }
    for (Stage stage : group.stages()) {
      if (stage instanceof Load load) {
        first += load.to().extent(1) / 4;
      }
    }
    List<ChainTiling> candidates = new ArrayList<>();
    for (boolean prefetch : new boolean[] {true, false}) {
      long each = most + (prefetch ? first : 0) + OTHER_REGISTERS;
      long fit = GpuTarget.REGISTERS_PER_SM / WARPGROUP / each;
      for (int consumers = (int) Math.min(fit, MOST_CONSUMERS); consumers >= 1; consumers--) {
        candidates.addAll(withWeights(group, target, consumers, prefetch, blocks));
      }
    }
    return candidates;
  }

  private static List<ChainTiling> withWeights(
      StageGroup group, GpuTarget target, int consumers, boolean prefetch, int blocks) {
    long space = target.sharedPerBlock() - SLACK;
    Set<Buffer> resident = new HashSet<>();
    long all = 0;
    for (Product product : group.products()) {
      all += bytes(product);
      resident.add(product.weight());
    }
    return all > space
        ? List.of()
        : List.of(new ChainTiling(consumers, resident, 0, 1, prefetch, blocks));
  }

  /** The choice in words, for example {@code consumers=6 prefetch=1}. */
  String text() {
    return String.format(
        Locale.ROOT, "consumers=%d prefetch=%d stages=%d", consumers, prefetch ? 1 : 0, stages);
  }

  private static long bytes(Product product) {
    return product.n() * product.k() * product.weight().dtype().bytes();
  }

  /** Columns of a slice of the weight. */
  long depth(Product product) {
    return resident.contains(product.weight()) ? product.k() : depth;
  }

  boolean isStreamed(Product product) {
    return !resident.contains(product.weight());
  }

  int stages(Product product) {
    return isStreamed(product) ? stages : 1;
  }

  /** Bytes of weights that stay. */
  long residentBytes(StageGroup group) {
    return group.products().stream().filter(p -> !isStreamed(p)).mapToLong(ChainTiling::bytes).sum();
  }

  /** The instruction of a product. */
  String instruction(Product product) {
    String type = product.weight().dtype() == DType.F16 ? "f16" : "bf16";
    return "wgmma.m64n" + product.n() + "k16.f32." + type + ".ra";
  }
}
