package dev.warpwright.networks.registers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Map;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.model.function.NetworkFunction.Reduction;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.stages.FormulaReads;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.networks.stages.StageReads;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * How warps compute a network by fma, each for rows of its own: activations are in shared memory,
 * where only their warp reads and writes them, so no warp waits for another; weights stay there,
 * too.
 *
 * @param warps of a block, each with rows of its own
 * @param rows of a warp
 * @param steps of K that are written out one after another
 * @param blocks of the grid
 */
public record SimtTiling(int warps, int rows, int steps, int blocks) {
  /** Rows of a warp, where there are few. */
  public static final int FEWEST_ROWS = 32;

  private static final int WARP = 32;

  /** Elements of an access of 16 bytes. */
  private static final int VECTOR = 4;

  /** Registers of a thread for addresses, and for what is on its way to the next step. */
  private static final int OTHER_REGISTERS = 24;

  private static final int[] WARPS = {16, 12, 8, 4};

  private static final int[] ROWS = {FEWEST_ROWS, 48, 64};

  /**
   * Of more rows a thread reads fewer words for each multiply-add, as long as so many warps hide
   * what reading takes: 64 × 4 takes 665 µs by 12 warps of 48 rows, 676 by 16 of 32
   * (docs/benchmarks/2026-11-29-registers-of-accumulators.md), and 8 of 64 were slower than 16 of
   * 32 before (2026-11-25-networks-by-fma.md).
   */
  private static final int ENOUGH_WARPS = 12;

  private static final int[] STEPS = {16, 8, 4};

  private static final int INSTRUCTION_BYTES = 16;

  /** Instructions of a layer beside its multiply-adds and their reads. */
  private static final int LAYER_INSTRUCTIONS = 200;

  /**
   * Bytes of code that instruction caches hold for warps which are each somewhere else: 64 × 4 in a
   * loop of layers takes 710 µs with 20 kB; four layers one after another 770 with 36 and 991 with
   * 53 (docs/benchmarks/2026-11-25-networks-by-fma.md). By 48 rows a warp 16 steps have 29 kB and
   * take 665, 8 steps 673, 20 steps 814.
   */
  private static final long MOST_CODE = 30_000;

  /** Columns that a thread's accumulators may have in a row. */
  private static final int MOST_COLUMNS = 32;

  /** Why a network cannot be computed so; empty if nothing is known to be in the way. */
  public static String refusal(StageGroup group, GpuTarget target) {
    List<Matmul> products = group.products();
    if (products.isEmpty()) {
      return "it has no GEMM";
    }
    if (group.writes().size() != 1) {
      return "it has several results";
    }
    if (!target.hasAmpere()) {
      return target.name() + " has no asynchronous copies";
    }
    Set<Buffer> sums = new HashSet<>();
    Set<Buffer> weights = new HashSet<>();
    for (Matmul product : products) {
      if (product.weight().dtype() != DType.F32 || product.transposed()) {
        return product.block() + " is no GEMM in f32";
      }
      if (!weights.add(product.weight())) {
        return product.block() + " shares its weight with another GEMM";
      }
      if (lanesAcross(product.n()) == 0) {
        return String.format(
            Locale.ROOT, "%s has %d columns for the lanes of a warp", product.block(), product.n());
      }
      sums.add(product.accumulator());
    }
    StageReads reads = StageReads.of(group.func());
    for (Stage stage : group.stages()) {
      if (stage instanceof Reduction) {
        return stage.block() + " is a sum over columns";
      }
      if (stage instanceof Load load && load.from().dtype() != DType.F32) {
        return load.block() + " converts its input";
      }
      if (stage instanceof Map map
          && (reads.by(map.block()).stream().filter(sums::contains).count() != 1
              || reads.by(map.block()).stream()
                  .anyMatch(b -> b.rank() == 2 && !sums.contains(b)))) {
        return map.block() + " is more than a formula of one GEMM's accumulators";
      }
      // Their code, for each element of a thread, is larger than caches that warps out of step
      // need.
      if (stage instanceof Map map && FormulaReads.of(group, map).functions()) {
        return map.block() + " calls functions";
      }
    }
    return "";
  }

  /** What to try, the presumably fastest first. */
  public static List<SimtTiling> candidates(StageGroup group, GpuTarget target, int blocks) {
    List<SimtTiling> list = new ArrayList<>();
    for (int rows : ROWS) {
      for (int warps : WARPS) {
        int steps = steps(group, rows);
        SimtTiling tiling = new SimtTiling(warps, rows, steps, blocks);
        if (steps > 0 && tiling.fits(group, target)) {
          list.add(tiling);
          break;
        }
      }
    }
    list.sort(
        Comparator.comparing((SimtTiling t) -> t.warps() < ENOUGH_WARPS)
            .thenComparing(t -> t.warps() < ENOUGH_WARPS ? t.rows() : -t.rows()));
    return list;
  }

  /** As many steps as leave the code small enough; 0 if none do. */
  private static int steps(StageGroup group, int rows) {
    for (int steps : STEPS) {
      if (code(group, rows, steps) <= MOST_CODE) {
        return steps;
      }
    }
    return 0;
  }

  /** Bytes of the layers' code: those of one shape that follow each other become a loop. */
  private static long code(StageGroup group, int rows, int steps) {
    long instructions = 0;
    Matmul before = null;
    for (Matmul product : group.products()) {
      boolean rolled = before != null && before.n() == product.n() && before.k() == product.k();
      if (!rolled) {
        instructions += steps * (rows * product.n() / WARP * 17 / 16) + LAYER_INSTRUCTIONS;
      }
      before = product;
    }
    return INSTRUCTION_BYTES * instructions;
  }

  private boolean fits(StageGroup group, GpuTarget target) {
    long registers = 0;
    for (Matmul product : group.products()) {
      int across = lanesAcross(product.n());
      int down = WARP / across;
      if (rows % (down * VECTOR) != 0) {
        return false;
      }
      long rowsEach = rows / down;
      long columnsEach = product.n() / across;
      registers = Math.max(registers, rowsEach * columnsEach + 2 * (rowsEach + columnsEach));
    }
    return registers + OTHER_REGISTERS <= GpuTarget.registersOfThread(warps * WARP)
        && bytes(group) <= target.sharedPerBlock();
  }

  /** Bytes of shared memory. */
  private long bytes(StageGroup group) {
    long widest = 0;
    for (Stage stage : group.stages()) {
      if (stage instanceof Load load) {
        widest = Math.max(widest, load.to().extent(1));
      }
    }
    for (Matmul product : group.products()) {
      widest = Math.max(widest, product.k());
    }
    // And a vector beside each weight.
    long vectors = group.products().stream().mapToLong(p -> p.n() * Float.BYTES).sum();
    return weights(group) + vectors + warps * widest * (rows + VECTOR) * Float.BYTES;
  }

  /** Bytes of the weights, all of which stay. */
  long weights(StageGroup group) {
    return group.products().stream().mapToLong(p -> p.n() * p.k() * Float.BYTES).sum();
  }

  /**
   * Lanes side by side in so many columns: each has at most {@link #MOST_COLUMNS}, by fours. 0 if
   * none divide them.
   */
  private static int lanesAcross(long columns) {
    for (int across = 8; across >= 4; across /= 2) {
      if (columns % ((long) VECTOR * across) == 0 && columns / across <= MOST_COLUMNS) {
        return across;
      }
    }
    return 0;
  }

  /** How a product is spread over the lanes of a warp. */
  Attrs attrs(Matmul product) {
    int across = lanesAcross(product.n());
    return Attrs.NONE
        .with("instr", "fma")
        .with("threadsM", WARP / across)
        .with("threadsN", across)
        .with("vec", VECTOR)
        .with("vecM", VECTOR)
        .with("unrollK", steps);
  }

  /** The choice in words, for example {@code warps=16 rows=32 steps=16}. */
  public String text() {
    return "warps=" + warps + " rows=" + rows + " steps=" + steps;
  }

  /** Whether a formula is what a product reads, not a result. */
  static boolean isOperand(StageGroup group, Map map) {
    return group.products().stream().anyMatch(product -> product.a() == map.to());
  }
}
