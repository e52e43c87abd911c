package dev.warpwright.examples.ladder;

/**
 * How a tile of the result is shared by the warps of a block, and a warp's part by its lanes, in
 * elements.
 *
 * @param m rows of a block's tile
 * @param n columns of a block's tile
 * @param k depth of a step
 * @param warpM rows of a warp's part
 * @param warpN columns of a warp's part
 * @param lanesM lanes of a warp along the rows, of 32
 * @param blocksPerSm blocks that an SM is to hold, which bounds the registers
 */
record Tiling(long m, long n, long k, long warpM, long warpN, long lanesM, long blocksPerSm) {
  /** Neighbouring elements that a thread owns: one access of 16 bytes. */
  static final long RUN = 4;

  public Tiling {
    long lanesN = 32 / lanesM;
    if (m % warpM != 0
        || n % warpN != 0
        || warpM % (lanesM * RUN) != 0
        || warpN % (lanesN * RUN) != 0
        || k % RUN != 0) {
      throw new IllegalArgumentException("parts that do not fit into each other");
    }
  }

  long lanesN() {
    return 32 / lanesM;
  }

  long threads() {
    return m / warpM * (n / warpN) * 32;
  }
}
