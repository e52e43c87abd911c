package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Store;
import dev.warpwright.model.function.NetworkFunction.Update;
import dev.warpwright.networks.stages.FormulaReads;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * How a network is carried through the registers of warps, whose products take both operands from
 * registers: weights stay in shared memory, in the order of these registers, as far as they fit.
 *
 * @param warps of a block, each with rows of its own
 * @param rows of a warp: what is read of the weights is used for all of them
 * @param part columns that are computed at a time, at most
 * @param prefetch whether the next rows are read while these are computed
 * @param blocks of the grid
 * @param resident weights that stay in shared memory; others are read through L1 and L2
 * @param whole accumulators that are needed at once, whatever their columns
 * @param stagesResults whether results whose rows fill no vectors leave through shared memory
 */
public record WarpTiling(
    int warps,
    long rows,
    long part,
    boolean prefetch,
    int blocks,
    Set<Buffer> resident,
    Set<Buffer> whole,
    boolean stagesResults) {
  private static final int WARP = 32;

  /** Bytes by which what a weight arrives in is larger than the weight. */
  private static final int BARRIERS = 16;

  private static final long GRANULE = 16;

  /** Registers of addresses, and of weights on their way, where nothing has spilled. */
  private static final long OTHER_REGISTERS = 34;

  /** More where a formula calls functions. */
  private static final long FUNCTION_REGISTERS = 28;

  /** More where rows are reduced: what lanes exchange, and formulas of all columns at once. */
  private static final long REDUCING_REGISTERS = 12;

  private static final long MOST_BESIDE_MEMORY = 48;

  /** More where weights come from memory. */
  private static final long MEMORY_REGISTERS = 40;

  /** Accumulators beyond these keep more weights on their way. */
  private static final long MANY = 64;

  /**
   * Operands lie four registers side by side, in other fours than rows in memory: some are moved.
   */
  private static final long MOST_OF_OPERAND = 64;

  /** And with luck. */
  private static final long FEWEST_REGISTERS = 20;

  private static final int[] WARPS = {16, 12, 8, 4};

  /** What a formula of inputs reads of columns, of which ptxas holds half of the next part, too. */
  private static final int MOST_VECTORS = Lowering.COLUMN_REGISTERS * 3 / 2;

  private static final long[] ROWS = {32, 16};
  private static final long[] PARTS = {128, 64, 32};

  public WarpTiling {
    resident = Set.copyOf(resident);
    whole = Set.copyOf(whole);
  }

  /** Why a network cannot be carried so; empty if nothing is known to be in the way. */
  public static String refusal(StageGroup group, GpuTarget target) {
    if (!target.hasAmpere()) {
      return target.name() + " has no mma.sync of 16 by 8 by 16 with operands in registers";
    }
    String refusal = ChainTiling.refusal(group, false);
    if (refusal.isEmpty() && resident(group, target.sharedPerBlock()).isEmpty()) {
      return String.format(
          Locale.ROOT,
          "none of its weights fits the %d bytes of shared memory of a block",
          target.sharedPerBlock());
    }
    return refusal;
  }

  /** The weights that stay: the first ones that fit. */
  private static Set<Buffer> resident(StageGroup group, long space) {
    long left = space;
    Set<Buffer> resident = new LinkedHashSet<>();
    for (Matmul product : group.products()) {
      long taken = bytes(product) + BARRIERS;
      if (taken <= left && resident.add(product.weight())) {
        left -= taken;
      }
    }
    return resident;
  }

  /** What to try, the presumably fastest first; all of them are known not to spill. */
  public static List<WarpTiling> candidates(StageGroup group, GpuTarget target, int blocks) {
    return candidates(group, target, blocks, OTHER_REGISTERS);
  }

  /** Those, and at the end some that may need more registers than there are. */
  public static List<WarpTiling> alternatives(StageGroup group, GpuTarget target, int blocks) {
    Set<WarpTiling> all = new LinkedHashSet<>(candidates(group, target, blocks));
    all.addAll(candidates(group, target, blocks, FEWEST_REGISTERS));
    return List.copyOf(all);
  }

  private static List<WarpTiling> candidates(
      StageGroup group, GpuTarget target, int blocks, long others) {
    Set<Buffer> whole = ColumnParts.whole(group);
    List<WarpTiling> candidates = new ArrayList<>();
    for (long rows : ROWS) {
      for (boolean prefetch : new boolean[] {true, false}) {
        for (int warps : WARPS) {
          long results = StoredResults.bytesOfWarp(group) * warps;
          Set<Buffer> all = resident(group, target.sharedPerBlock());
          Set<Buffer> some = resident(group, target.sharedPerBlock() - results);
          // Weights that all stay come first.
          boolean stages =
              results > 0 && !some.isEmpty() && (some.equals(all) || !stay(group, all));
          Set<Buffer> resident = stages ? some : all;
          for (long part : PARTS) {
            WarpTiling tiling =
                new WarpTiling(warps, rows, part, prefetch, blocks, resident, whole, stages);
            long registers = tiling.registers(group) + others;
            boolean fits =
                registers <= GpuTarget.registersOfThread(warps * WARP)
                    && tiling.operand(group) <= mostOfOperand(group, resident, others);
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

  /** Where weights come from memory, ptxas spilled a few of wider ones whatever else was there. */
  private static long mostOfOperand(StageGroup group, Set<Buffer> resident, long others) {
    return stay(group, resident) || others < OTHER_REGISTERS ? MOST_OF_OPERAND : MOST_BESIDE_MEMORY;
  }

  private static boolean stay(StageGroup group, Set<Buffer> resident) {
    return group.products().stream().allMatch(p -> resident.contains(p.weight()));
  }

  private boolean isNarrowerThan(WarpTiling other) {
    return other.warps == warps
        && other.rows == rows
        && other.prefetch == prefetch
        && other.part > part;
  }

  /**
   * Registers of a thread: two operands, the accumulators between them, what formulas read besides,
   * and the next rows.
   */
  private long registers(StageGroup group) {
    long most = 0;
    long next = 0;
    long operand = 0;
    long made = 0;
    long sums = 0;
    long across = 0;
    List<Long> beside = group.columnsBeside();
    for (int i = 0; i < beside.size(); i++) {
      long kept = rows * beside.get(i) / WARP;
      switch (group.stages().get(i)) {
        case Load load -> next += halves(load.to().extent(1));
        case Matmul product -> {
          long columns = part(product);
          boolean parts = columns < product.n();
          sums = rows * columns * product.accumulator().dtype().bytes() / Float.BYTES / WARP;
          across = columns;
          made = halves(product.n() - columns);
          // Weights of two steps are on their way from memory.
          long weights = stays(product) ? Math.max(0, sums - MANY) : columns / 2 + MEMORY_REGISTERS;
          most = Math.max(most, kept + halves(product.k()) + made + sums + weights);
          operand = parts ? halves(product.k()) : 0;
        }
        case Map map -> {
          FormulaReads reads = FormulaReads.of(group, map);
          long columns = reads.sums() ? across : map.to().extent(1);
          long held = reads.sums() ? operand + made + sums : halves(columns);
          most =
              Math.max(
                  most,
                  kept
                      + held
                      + (reads.sums()
                          ? reads.columns() * columns / 4
                          : Math.min(reads.columns() * columns * 3 / 8, MOST_VECTORS))
                      + reads.elements() * rows / 8
                      + (reads.functions() ? FUNCTION_REGISTERS : 0));
        }
        case Reduction _, Store _, Update _ -> {}
      }
    }
    return most + (prefetch ? next : 0) + (group.reduces() ? REDUCING_REGISTERS : 0);
  }

  /** Registers of the widest activations. */
  private long operand(StageGroup group) {
    return group.products().stream().mapToLong(p -> halves(Math.max(p.n(), p.k()))).max().orElse(0);
  }

  /** Registers of so many columns of 16-bit elements. */
  private long halves(long columns) {
    return rows * columns / 2 / WARP;
  }

  /** Columns of a product that are computed at a time: the widest equal parts. */
  long part(Matmul product) {
    if (whole.contains(product.accumulator())) {
      return product.n();
    }
    long columns = Math.min(part, product.n());
    while (product.n() % columns != 0 || columns % GRANULE != 0) {
      columns--;
    }
    return columns;
  }

  public boolean stays(Matmul product) {
    return resident.contains(product.weight());
  }

  /** Bytes of the weights that stay. */
  long bytes(StageGroup group) {
    return group.products().stream().filter(this::stays).mapToLong(WarpTiling::bytes).sum();
  }

  private static long bytes(Matmul product) {
    return product.n() * product.k() * product.weight().dtype().bytes();
  }

  /** The instruction of a product. */
  static String instruction(Matmul product) {
    return "mma.m16n8k16."
        + product.accumulator().dtype().text()
        + "."
        + product.weight().dtype().text();
  }

  /** The choice in words, for example {@code warps=12 rows=32 part=128 prefetch=1}. */
  public String text() {
    return String.format(
        Locale.ROOT, "warps=%d rows=%d part=%d prefetch=%d", warps, rows, part, prefetch ? 1 : 0);
  }
}
