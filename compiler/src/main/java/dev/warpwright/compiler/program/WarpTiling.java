package dev.warpwright.compiler.program;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * How a network is carried through the registers of warps, whose products take both operands from
 * registers: all weights stay in shared memory, in the order of these registers.
 *
 * @param warps of a block, each with rows of its own
 * @param rows of a warp: what is read of the weights is used for all of them
 * @param part columns that are computed at a time, at most
 * @param prefetch whether the next rows are read while these are computed
 * @param blocks of the grid
 */
record WarpTiling(int warps, long rows, long part, boolean prefetch, int blocks) {
  private static final int WARP = 32;
  private static final long GRANULE = 16;

  /** Registers of addresses, and of weights on their way. */
  private static final long OTHER_REGISTERS = 32;

  private static final int[] WARPS = {16, 12, 8, 4};
  private static final long[] ROWS = {32, 16};
  private static final long[] PARTS = {128, 64, 32};

  /** Why a network cannot be carried so; empty if nothing is known to be in the way. */
  static String refusal(StageGroup group, GpuTarget target) {
    if (!target.hasAmpere()) {
      return target.name() + " has no products of 16 by 8 by 16 with operands in registers";
    }
    String refusal = ChainTiling.refusal(group);
    long bytes = bytes(group);
    if (refusal.isEmpty() && bytes > target.sharedPerBlock()) {
      return String.format(
          Locale.ROOT,
          "its weights take %d bytes of shared memory, a block has %d",
          bytes,
          target.sharedPerBlock());
    }
    return refusal;
  }

  /** What to try, the presumably fastest first. */
  static List<WarpTiling> candidates(StageGroup group, int blocks) {
    List<WarpTiling> candidates = new ArrayList<>();
    for (long rows : ROWS) {
      for (boolean prefetch : new boolean[] {true, false}) {
        for (int warps : WARPS) {
          for (long part : PARTS) {
            WarpTiling tiling = new WarpTiling(warps, rows, part, prefetch, blocks);
            boolean fits = tiling.registers(group) <= GpuTarget.registersOfThread(warps * WARP);
            // Narrower parts are for those that do not fit.
            if (fits && candidates.stream().noneMatch(tiling::isNarrowerThan)) {
              candidates.add(tiling);
            }
          }
        }
      }
    }
    return candidates;
  }

  private boolean isNarrowerThan(WarpTiling other) {
    return other.warps == warps
        && other.rows == rows
        && other.prefetch == prefetch
        && other.part > part;
  }

  /** Registers of a thread: two operands, the accumulators between them, and the next rows. */
  private long registers(StageGroup group) {
    long most = 0;
    long next = 0;
    for (Product product : group.products()) {
      long columns = part(product);
      long operand = rows * product.k() / 2 / WARP;
      long made = rows * (product.n() - columns) / 2 / WARP;
      most = Math.max(most, operand + made + rows * columns / WARP);
    }
    for (Stage stage : group.stages()) {
      if (stage instanceof Load load) {
        next += rows * load.to().extent(1) / 2 / WARP;
      }
    }
    return most + (prefetch ? next : 0) + OTHER_REGISTERS;
  }

  /** Columns of a product that are computed at a time: the widest equal parts. */
  long part(Product product) {
    long columns = Math.min(part, product.n());
    while (product.n() % columns != 0 || columns % GRANULE != 0) {
      columns--;
    }
    return columns;
  }

  /** Bytes of all weights, which stay. */
  static long bytes(StageGroup group) {
    return group.products().stream()
        .mapToLong(p -> p.n() * p.k() * p.weight().dtype().bytes())
        .sum();
  }

  /** The instruction of a product. */
  static String instruction(Product product) {
    return "mma.m16n8k16.f32." + (product.weight().dtype() == DType.F16 ? "f16" : "bf16");
  }

  /** The choice in words, for example {@code warps=12 rows=32 part=128 prefetch=1}. */
  String text() {
    return String.format(
        Locale.ROOT,
        "warps=%d rows=%d part=%d prefetch=%d",
        warps,
        rows,
        part,
        prefetch ? 1 : 0);
  }
}
