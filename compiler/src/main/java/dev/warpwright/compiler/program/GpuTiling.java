package dev.warpwright.compiler.program;

import dev.warpwright.compiler.stages.StageGroup;
import dev.warpwright.ir.Attrs;
import dev.warpwright.model.function.NetworkFunction.Product;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;

/**
 * The sizes that a fused network's schedule needs.
 *
 * @param rows rows of a block's tile
 * @param threads in a block
 * @param depth columns of a weight that are in shared memory at once
 */
record GpuTiling(int rows, int threads, int depth) {
  /** Registers of a thread for operands, addresses and formulas. */
  private static final int OTHER_REGISTERS = 80;

  /** What to try, the presumably fastest first; the first that fits the target is taken. */
  static List<GpuTiling> candidates(String instruction, long widest) {
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
   * Blocks that a multiprocessor should hold as far as registers go. Without a number ptxas picks
   * one by itself, and spills to reach it.
   */
  long minBlocks(StageGroup group) {
    return minBlocks(threads, registers(group));
  }

  /** The same for a kernel whose elements of a tile take so many registers of each thread. */
  static long minBlocks(int threads, long elements) {
    long each = elements + OTHER_REGISTERS;
    return Math.max(1, GpuTarget.REGISTERS_PER_SM / (threads * each));
  }

  /** Registers of a thread that the accumulators take which are alive at once. */
  long registers(StageGroup group) {
    return rows * group.liveColumns() / threads;
  }

  /** The matrix instruction of a precision on a target, or {@code fma}. */
  static String instruction(Precision precision, GpuTarget target) {
    return switch (precision) {
      case F32 -> "fma";
      case TF32 -> "mma.m16n8k8.f32.tf32";
      case F16 -> target.hasAmpere() ? "mma.m16n8k16.f32.f16" : "mma.m16n8k8.f32.f16";
      case BF16 -> "mma.m16n8k16.f32.bf16";
      case F16_SUMS, E4M3, E5M2, INT8, UINT8, F64 ->
          throw new IllegalArgumentException("no networks in " + precision.text());
    };
  }

  /** How a product is spread over the block. */
  Attrs attrs(Product product, String instruction) {
    return attrs(product.n(), product.exact(), instruction);
  }

  /**
   * How a product is spread over the block.
   *
   * @param cols of the tile
   * @param exact whether it must be computed by fma
   */
  Attrs attrs(long cols, boolean exact, String instruction) {
    boolean fma = exact || instruction.equals("fma");
    if (fma) {
      int across = 32;
      while (cols % (4L * across) != 0) {
        across /= 2;
      }
      return Attrs.NONE
          .with("instr", "fma")
          .with("threadsN", across)
          .with("threadsM", Math.min(threads / across, rows))
          .with("vec", 4);
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
  long depthOf(Product product) {
    for (long d = Math.min(depth, product.k()); d > 16; d -= 16) {
      if (product.k() % d == 0 && d % 16 == 0) {
        return d;
      }
    }
    return Math.min(Math.min(16, depth), product.k());
  }
}
