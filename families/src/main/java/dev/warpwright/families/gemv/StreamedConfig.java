package dev.warpwright.families.gemv;

/**
 * The decisions of {@link StreamedGemm}.
 *
 * @param columns of a thread
 * @param reads vectors of each column that a thread asks for before it multiplies
 * @param lanesK lanes of a warp along K, of 32; the others are beside each other
 * @param warpsK warps that share a column
 * @param warpsN warps beside each other
 * @param minBlocks blocks that an SM shall hold
 */
public record StreamedConfig(
    int columns, int reads, int lanesK, int warpsK, int warpsN, int minBlocks) {

  /** Threads of a block. */
  public int threads() {
    return 32 * warpsK * warpsN;
  }

  /** Threads that share a column. */
  public int slices() {
    return lanesK * warpsK;
  }

  /** Columns of a block. */
  public int tileN() {
    return columns * groups() * warpsN;
  }

  /** Groups of lanes beside each other in a warp. */
  int groups() {
    return 32 / lanesK;
  }
}
