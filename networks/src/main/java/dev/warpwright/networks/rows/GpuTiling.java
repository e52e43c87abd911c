package dev.warpwright.networks.rows;

import dev.warpwright.ir.Attrs;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The sizes that a fused network's schedule needs.
 *
 * @param rows rows of a block's tile
 * @param threads in a block
 * @param depth columns of a weight that are in shared memory at once
 * @param columns of the tile that a thread computes by fma from what it has read of shared memory
 *     once, so that reading does not take longer than computing; 0: columns side by side over the
 *     block's threads
 */
public record GpuTiling(int rows, int threads, int depth, int columns) {
  /** Registers of a thread for operands, addresses and formulas. */
  private static final int OTHER_REGISTERS = 80;

  /** Of an SM, each of which has its part of the registers. */
  private static final int SCHEDULERS = 4;

  /** The same where operands are counted, too. */
  private static final int TILE_REGISTERS = 32;

  /** A thread's tile: each of its elements is read once for so many products. */
  private static final int[][] TILES = {{8, 8}, {16, 8}, {8, 16}};

  /** Columns that a thread reads at once. */
  private static final int VECTOR = 4;

  private static final int[] THREADS_OF_TILES = {256, 128, 64};
  private static final int MOST_ROWS = 512;
  private static final int DEPTH = 64;

  /** Of shared memory, what the system takes of each block. */
  private static final int SHARED_OF_BLOCK = 1024;

  /** Of an SM, so that some multiply while others wait. */
  private static final int ENOUGH_WARPS = 8;

  /** Columns side by side over the threads. */
  public GpuTiling(int rows, int threads, int depth) {
    this(rows, threads, depth, 0);
  }

  /**
   * Tiles of registers for a network that is computed by fma, the presumably fastest first.
   *
   * <p>Shared memory delivers 32 words a cycle, in which 128 products are computed: a thread with 8
   * × 8 elements waits for their 16 words as long as it multiplies, one with 16 × 8 three quarters
   * of it, but has no registers left to read ahead. Many rows a block read weights seldom. On an
   * H200, 64 × 4, 2²⁰ rows: 8 × 8 by 256, 128 and 64 threads took 863, 1045 and 1140 us, 16 × 8 by
   * 128 threads 1283 us (docs/benchmarks/2026-11-23-every-way.md).
   */
  public static List<GpuTiling> tiles(StageGroup group, GpuTarget target) {
    long columns = Math.max(16, group.liveColumns());
    List<GpuTiling> list = new ArrayList<>();
    for (int[] tile : TILES) {
      for (int threads : THREADS_OF_TILES) {
        long rows = Long.highestOneBit((long) tile[0] * tile[1] * threads / columns);
        GpuTiling tiling = new GpuTiling((int) rows, threads, DEPTH, tile[1]);
        if (rows >= tile[0] && rows <= MOST_ROWS && !list.contains(tiling)) {
          list.add(tiling);
        }
      }
    }
    list.removeIf(t -> t.blocks(group, target) * t.threads < SCHEDULERS * GpuTarget.WARP_SIZE);
    list.removeIf(t -> !group.products().stream().allMatch(product -> t.isSpread(product.n())));
    list.sort(Comparator.comparing(t -> !t.hasEnoughWarps(group, target)));
    return list;
  }

  /** Blocks on an SM, as registers and shared memory allow. */
  private long blocks(StageGroup group, GpuTarget target) {
    long widest = group.products().stream().mapToLong(p -> Math.max(p.n(), p.k())).max().orElse(1);
    long pitch = widest + 4;
    long bytes = (rows + Math.min(depth, widest)) * pitch * Float.BYTES;
    return Math.min(minBlocks(group), target.sharedPerSm() / (bytes + SHARED_OF_BLOCK));
  }

  private boolean hasEnoughWarps(StageGroup group, GpuTarget target) {
    return blocks(group, target) * threads >= ENOUGH_WARPS * GpuTarget.WARP_SIZE;
  }

  /** What plan says of a thread's tile, behind the rest. */
  public String ofThreads() {
    return columns == 0
        ? ""
        : "; each of "
            + threads
            + " threads multiplies "
            + columns
            + " columns at a time by what it has read of shared memory once";
  }

  /** The choice in words, for example {@code rows=256 threads=128 columns=8}. */
  public String text() {
    return "rows=" + rows + " threads=" + threads + " columns=" + columns;
  }

  /** What to try, the presumably fastest first; the first that fits the target is taken. */
  public static List<GpuTiling> candidates(String instruction, long widest) {
    boolean tensorCores = !instruction.equals("fma");
    // One step of the instruction along K at least.
    int[] depths = instruction.contains("k16") ? new int[] {64, 32, 16} : new int[] {64, 32, 16, 8};
    List<GpuTiling> list = new ArrayList<>();
    int[] rows = tensorCores ? new int[] {64, 32, 16} : new int[] {32, 16, 8, 4};
    for (int r : rows) {
      if (tensorCores && r == 64 && widest > 128) {
        continue;
      }
      int threads = tensorCores && r == 64 ? 128 : 256;
      for (int depth : depths) {
        list.add(new GpuTiling(r, threads, depth));
      }
    }
    return list;
  }

  /**
   * Blocks that an SM should hold as far as registers go. Without a number ptxas picks one by
   * itself, and spills to reach it.
   */
  public long minBlocks(StageGroup group) {
    if (columns == 0) {
      return minBlocks(threads, registers(group));
    }
    long most = 0;
    for (Matmul product : group.products()) {
      long each = rowsOfThread(product.n());
      long own = each * along(each) + product.n() / across(product.n());
      most = Math.max(most, own + registers(group) + TILE_REGISTERS);
    }
    long warps = GpuTarget.REGISTERS_PER_SM / SCHEDULERS / (GpuTarget.WARP_SIZE * most);
    return Math.max(1, SCHEDULERS * warps * GpuTarget.WARP_SIZE / threads);
  }

  /** Threads side by side, each of which computes at least {@link #columns} of so many columns. */
  private int across(long cols) {
    int across = 1;
    while (cols % (8L * across) == 0 && cols / (2 * across) >= columns || threads / across > rows) {
      across *= 2;
    }
    return across;
  }

  /** Whether each of the threads side by side has as many columns: 352 are too odd for 16. */
  private boolean isSpread(long cols) {
    return cols % ((long) VECTOR * across(cols)) == 0;
  }

  private long rowsOfThread(long cols) {
    return Math.max(1, rows * across(cols) / threads);
  }

  /** Elements of a row of activations that are read at once. */
  private static int along(long rows) {
    return rows > 8 ? 2 : 4;
  }

  /** The same for a kernel whose elements of a tile take so many registers of each thread. */
  public static long minBlocks(int threads, long elements) {
    long each = elements + OTHER_REGISTERS;
    return Math.max(1, GpuTarget.REGISTERS_PER_SM / (threads * each));
  }

  /** Registers of a thread that the accumulators take which are alive at once. */
  public long registers(StageGroup group) {
    return rows * group.liveColumns() / threads;
  }

  /** The matrix instruction of a precision on a target, or {@code fma}. */
  public static String instruction(Precision precision, GpuTarget target) {
    return switch (precision) {
      case F32 -> "fma";
      case TF32 -> "mma.m16n8k8.f32.tf32";
      // Accumulators are f16 in registers only.
      case F16, F16_ACCUMULATORS ->
          target.hasAmpere() ? "mma.m16n8k16.f32.f16" : "mma.m16n8k8.f32.f16";
      case BF16 -> "mma.m16n8k16.f32.bf16";
      case E4M3, E5M2, INT8, UINT8, F64 ->
          throw new IllegalArgumentException("no networks in " + precision.text());
    };
  }

  /** How a product is spread over the block. */
  public Attrs attrs(Matmul product, String instruction) {
    return attrs(product.n(), product.exact(), instruction);
  }

  /**
   * How a product is spread over the block.
   *
   * @param cols of the tile
   * @param exact whether it must be computed by fma
   */
  public Attrs attrs(long cols, boolean exact, String instruction) {
    boolean fma = exact || instruction.equals("fma");
    if (fma && columns > 0) {
      int across = across(cols);
      return Attrs.NONE
          .with("instr", "fma")
          .with("threadsN", across)
          .with("threadsM", Math.min(threads / across, rows))
          .with("vec", VECTOR)
          .with("vecK", along(rowsOfThread(cols)))
          .with("spread", 1);
    }
    if (fma) {
      int across = 32;
      while (cols % ((long) VECTOR * across) != 0) {
        across /= 2;
      }
      return Attrs.NONE
          .with("instr", "fma")
          .with("threadsN", across)
          .with("threadsM", Math.min(threads / across, rows))
          .with("vec", VECTOR);
    }
    int warps = threads / 32;
    int down = Math.min(warps, rows / 16);
    int across = Integer.highestOneBit(warps / down);
    while (cols % (8L * across) != 0) {
      across /= 2;
    }
    return Attrs.NONE.with("instr", instruction).with("warpsM", down).with("warpsN", across);
  }

  /** Columns of the weight to hold at once: at most {@link #depth}, a divisor of K. */
  long depthOf(Matmul product) {
    for (long d = Math.min(depth, product.k()); d > 16; d -= 16) {
      if (product.k() % d == 0 && d % 16 == 0) {
        return d;
      }
    }
    return Math.min(Math.min(16, depth), product.k());
  }
}
