package dev.warpwright.networks.layers;

import dev.warpwright.ir.Attrs;
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

  /** For sums over rows: a row for each warp. */
  public static LayerTiling ofRows() {
    return new LayerTiling(THREADS / 32, 256, 1, THREADS, "fma");
  }

  /** For formulas. */
  public static LayerTiling ofElements() {
    return new LayerTiling(16, 128, 1, THREADS, "fma");
  }

  /** How the product is spread over the block. */
  Attrs attrs(Matmul product) {
    return new GpuTiling(rows, threads, depth).attrs(cols, product.exact(), instruction);
  }
}
