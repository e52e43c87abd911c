package dev.warpwright.networks.layers;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.rows.GpuTiling;

/**
 * The sizes that the kernel of one layer needs.
 *
 * @param rows rows of a block's tile
 * @param cols columns of a block's tile, or of a part of it
 * @param depth of the slices of a product's operands
 * @param threads in a block
 * @param instruction that multiplies, {@code fma} or a matrix instruction
 */
public record LayerTiling(int rows, int cols, int depth, int threads, String instruction) {
  private static final int THREADS = 256;

  /** Elements of 16 bits in an access. */
  private static final int RUN = 8;

  /** Elements of a tile. */
  private static final int WIDE = 8 * THREADS;

  /** Columns of a formula's tile at least. */
  private static final int NARROW = 128;

  /** About as many blocks as the largest GPUs have SMs. */
  private static final int BLOCKS = 128;

  /** About as many as they hold. */
  private static final int AT_ONCE = 4 * BLOCKS;

  /** For a product; the narrowest tile that its columns fill, up to 128. */
  public static LayerTiling ofProduct(Matmul product, String instruction) {
    int cols = 16;
    while (cols < Math.min(128, product.n())) {
      cols *= 2;
    }
    boolean fma = product.exact() || instruction.equals("fma");
    int depth = product.k() <= 16 ? 16 : 32;
    return new LayerTiling(64, cols, depth, THREADS, fma ? "fma" : instruction);
  }

  /**
   * For sums over rows: a row for each warp, or all warps for each as long as there are no more
   * blocks than run at once: a warp by itself waits for memory over and over.
   */
  public static LayerTiling ofRows(Buffer result) {
    int rows = THREADS / 32;
    while (rows > 1
        && result.shape().getFirst() instanceof Expr.IntImm all
        && all.value() <= (long) AT_ONCE * rows / 2) {
      rows /= 2;
    }
    if (result.rank() == 1) {
      // One number a row: a tile of one row would have no dimension left to be copied.
      rows = Math.max(2, rows);
    }
    if (rows > 1) {
      return new LayerTiling(rows, WIDE / rows, 1, THREADS, "fma");
    }
    int cols = NARROW;
    int threads = THREADS;
    while (cols < result.extent(1) && cols < 2 * WIDE) {
      cols *= 2;
    }
    while (threads * RUN < cols) {
      threads *= 2;
    }
    return new LayerTiling(1, cols, 1, threads, "fma");
  }

  /**
   * For formulas. Few rows have wide tiles, so that a thread has several elements to load at once;
   * of short rows, or little altogether, there are as many blocks as of others.
   */
  public static LayerTiling ofElements(Buffer result) {
    int rows = few(result, 16);
    int cols = WIDE / rows;
    long width = ((Expr.IntImm) result.shape().getLast()).value();
    while (cols > NARROW && width < (long) BLOCKS * cols) {
      cols /= 2;
    }
    while (rows > 1
        && result.shape().getFirst() instanceof Expr.IntImm all
        && all.value() * Math.ceilDiv(width, cols) < (long) BLOCKS * rows) {
      rows /= 2;
    }
    return new LayerTiling(rows, cols, 1, THREADS, "fma");
  }

  /** Rows of a tile: so many, or a power of two where it is known that there are fewer. */
  private static int few(Buffer result, int most) {
    int rows = most;
    while (rows > 1
        && result.shape().getFirst() instanceof Expr.IntImm all
        && all.value() <= rows / 2) {
      rows /= 2;
    }
    return rows;
  }

  /** How the product is spread over the block. */
  Attrs attrs(Matmul product) {
    return new GpuTiling(rows, threads, depth).attrs(cols, product.exact(), instruction);
  }
}
