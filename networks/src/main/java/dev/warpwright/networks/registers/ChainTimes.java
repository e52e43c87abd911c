package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import java.util.List;
import java.util.Set;

/**
 * What limits warpgroups that carry rows in registers beside the rates of the device: weights that
 * flow by once for each round of their rows, and products of few columns. Clocks are of an H200.
 */
public final class ChainTimes {
  /** In a microsecond. */
  private static final double CLOCKS = 1755;

  /**
   * Bytes that the copy engine takes in, in a clock: by linear copies, and by boxes of whole lines.
   */
  private static final double COPIED_BYTES = 45.6;

  /** A tensor map's box takes that for each row of 32 bytes, and of 64. */
  private static final double ROW_OF_32 = 15;

  private static final double ROW_OF_64 = 7.4;

  /** Of a product, whose columns take half a clock each otherwise: 12 × 32 takes 43.7 µs. */
  private static final double LEAST_PRODUCT = 25;

  /** Bytes of K in a product. */
  private static final int STEP_BYTES = 32;

  private ChainTimes() {}

  /**
   * Microseconds that copies of weights, or the tensor cores, take at least.
   *
   * @param products of the network
   * @param constants weights that can be packed
   */
  public static double micros(
      ChainTiling tiling, List<Matmul> products, Set<Buffer> constants, int sms, long rows) {
    long tiles = Math.ceilDiv(Math.ceilDiv(rows, RegisterChain.ROWS), sms);
    long rounds = Math.ceilDiv(tiles, tiling.consumers());
    double copied = 0;
    double multiplied = 0;
    for (Matmul product : products) {
      boolean flows = tiling.weights().flows(product);
      boolean constant = constants.contains(product.weight());
      copied += (flows ? rounds : 1) * copied(product, tiling.weights(), constant);
      long part = ColumnParts.part(product.n(), tiling.columns());
      double steps = (double) product.k() * product.weight().dtype().bytes() / STEP_BYTES;
      multiplied += tiles * steps * product.n() / part * Math.max(part / 2.0, LEAST_PRODUCT);
    }
    return Math.max(copied, multiplied) / CLOCKS;
  }

  /** Clocks of a weight's copies. */
  private static double copied(Matmul product, StagedWeights weights, boolean constant) {
    int bytes = product.weight().dtype().bytes();
    // Panels are as wide as swizzles are, and divide the rows.
    long row =
        Math.min(StagedWeights.WIDE_BYTES, Long.lowestOneBit(weights.depth(product) * bytes));
    double all = StagedWeights.bytes(product);
    if (constant || row >= StagedWeights.WIDE_BYTES) {
      return all / COPIED_BYTES;
    }
    return all / row * (row > STEP_BYTES ? ROW_OF_64 : ROW_OF_32);
  }
}
