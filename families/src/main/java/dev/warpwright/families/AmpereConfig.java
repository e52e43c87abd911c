package dev.warpwright.families;

import dev.warpwright.ir.BlockOrder;

/**
 * The decisions of {@link AmpereGemm}.
 *
 * @param tileM rows of a block's tile
 * @param tileN columns of a block's tile
 * @param tileK length of a step along K
 * @param stages tiles of operands that are in shared memory at once
 * @param warpsM warps that share the rows
 * @param warpsN warps that share the columns
 * @param minBlocks blocks that a multiprocessor shall hold
 * @param order of the tiles
 * @param swapped whether rows of the product are columns of the result
 */
public record AmpereConfig(
    int tileM,
    int tileN,
    int tileK,
    int stages,
    int warpsM,
    int warpsN,
    int minBlocks,
    BlockOrder order,
    boolean swapped) {

  /** Threads of a block. */
  public int threads() {
    return 32 * warpsM * warpsN;
  }
}
