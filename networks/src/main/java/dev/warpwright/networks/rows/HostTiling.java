package dev.warpwright.networks.rows;

import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.target.HostTarget;

/**
 * The sizes that a host schedule needs.
 *
 * @param rows of a tile
 * @param parallelRows whether cores take different tiles; otherwise they share each tile's columns
 */
public record HostTiling(int rows, boolean parallelRows) {
  /** Rows that the widest micro-kernel holds in registers. */
  private static final int MICRO_ROWS = 12;

  /** Activations of so many rows stay close to a core while it goes through the layers. */
  private static final int LARGEST = 4 * MICRO_ROWS;

  /** Weights of so many bytes stay in a core's L2. */
  private static final long KEPT_BYTES = 1 << 20;

  /** Rows for which weights that do not stay in a cache are read once. */
  private static final int LARGEST_WIDE = 256;

  /**
   * Rows of a product's tile: more would wait for one another at the end, fewer load more often.
   */
  private static final long MOST_PRODUCT_ROWS = 512;

  /**
   * For a network.
   *
   * @param rows the row count to be fast for
   */
  public static HostTiling of(NetworkFunction network, int rows, HostTarget target) {
    long bytes = 0;
    for (NetworkFunction.Matmul product : network.products()) {
      bytes += product.n() * product.k() * product.weight().dtype().bits() / 8;
    }
    return bytes > KEPT_BYTES
        ? new HostTiling(Math.min(rows, LARGEST_WIDE), false)
        : new HostTiling(narrow(rows, target), true);
  }

  /**
   * Rows of a tile: all of a core's for few rows, otherwise enough to use each weight often while
   * it is in the core's cache, and so many that the last tile is as full as the others.
   */
  private static int narrow(int rows, HostTarget target) {
    int share = Math.ceilDiv(rows, target.cores());
    int best = Math.min(share, LARGEST);
    for (int each = best; each >= LARGEST / 2; each--) {
      if (Math.ceilDiv(share, each) * each < Math.ceilDiv(share, best) * best) {
        best = each;
      }
    }
    return best;
  }

  /**
   * Rows of a tile of a single product: two tiles for each core at least, dividing the whole if
   * that is possible.
   */
  static long productRows(long m, HostTarget target) {
    long share = Math.ceilDiv(m, 2L * target.cores());
    long most = Math.min(share, MOST_PRODUCT_ROWS);
    for (long rows = most; rows > most / 2; rows--) {
      if (m % rows == 0) {
        return rows;
      }
    }
    return most;
  }
}
