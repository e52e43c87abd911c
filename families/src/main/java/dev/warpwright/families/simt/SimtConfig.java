package dev.warpwright.families.simt;

import dev.warpwright.families.GemmTiles;

/**
 * The decisions of {@link SimtGemm}.
 *
 * @param tileM rows of a block's tile
 * @param tileN columns of a block's tile
 * @param tileK length of a step along K
 * @param warpM rows of a warp's part
 * @param warpN columns of a warp's part
 * @param lanesM lanes of a warp along the rows, of 32
 * @param slices groups of warps that share the depth of a step; their sums are added at the end
 * @param stages tiles of operands that are in shared memory at once: 2 go through registers, more
 *     by asynchronous copies
 * @param ahead whether a thread reads the operands of the next element of K while it multiplies
 * @param serpentine whether a thread goes through its columns to and fro, row by row
 * @param alongK whether tiles lie in shared memory along K, as both matrices do or the larger one,
 *     and a thread reads several elements of K at once; otherwise with K outermost
 * @param minBlocks blocks that an SM shall hold
 * @param parts blocks that share the depth of a tile; the last of them adds up what all have
 *     written to memory
 * @param panel rows of tiles that are gone through together, column by column; a divisor of the
 *     number of rows of tiles
 * @param byRows whether results go through shared memory, from which neighbouring threads store
 *     neighbouring elements: rows that begin anywhere are written a few bytes at a time otherwise
 */
public record SimtConfig(
    int tileM,
    int tileN,
    int tileK,
    int warpM,
    int warpN,
    int lanesM,
    int slices,
    int stages,
    boolean ahead,
    boolean serpentine,
    boolean alongK,
    int minBlocks,
    int parts,
    int panel,
    boolean byRows) {

  /** A configuration of whole tiles, row by row. */
  public SimtConfig(
      int tileM,
      int tileN,
      int tileK,
      int warpM,
      int warpN,
      int lanesM,
      int slices,
      int stages,
      boolean ahead,
      boolean serpentine,
      boolean alongK,
      int minBlocks) {
    this(
        tileM,
        tileN,
        tileK,
        warpM,
        warpN,
        lanesM,
        slices,
        stages,
        ahead,
        serpentine,
        alongK,
        minBlocks,
        1,
        1,
        false);
  }

  /** The same with another number of stages and of blocks of an SM. */
  public SimtConfig with(int otherStages, int otherBlocks) {
    return with(otherStages, otherBlocks, parts, panel, byRows);
  }

  /** The same with tiles shared by so many blocks, in another order. */
  public SimtConfig shared(int otherParts, int otherPanel) {
    return with(stages, minBlocks, otherParts, otherPanel, byRows);
  }

  /** The same with results through shared memory. */
  public SimtConfig storedByRows() {
    return with(stages, minBlocks, parts, panel, true);
  }

  private SimtConfig with(
      int otherStages, int otherBlocks, int otherParts, int otherPanel, boolean otherStore) {
    return new SimtConfig(
        tileM,
        tileN,
        tileK,
        warpM,
        warpN,
        lanesM,
        slices,
        otherStages,
        ahead,
        serpentine,
        alongK,
        otherBlocks,
        otherParts,
        otherPanel,
        otherStore);
  }

  /** Lanes of a warp along the columns. */
  public int lanesN() {
    return 32 / lanesM;
  }

  /** Threads of a block. */
  public int threads() {
    return tileM / warpM * (tileN / warpN) * slices * 32;
  }

  /** Sums of a thread. */
  public int sums() {
    return warpM * warpN / 32;
  }

  /** Rows of a thread. */
  int rows() {
    return warpM / lanesM;
  }

  /** Columns of a thread. */
  int columns() {
    return warpN / lanesN();
  }

  /** How it cuts a GEMM into tiles. */
  public GemmTiles tiles() {
    return new GemmTiles(
        tileM(), tileN(), tileK(), stages(), parts(), 1, 1, minBlocks(), false, panel() != 1);
  }
}
