package dev.warpwright.families.wgmma;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.lower.copy.TransposedCopy;
import dev.warpwright.workload.GemmWorkload;

/**
 * A tile that a warpgroup's threads transpose piece by piece on its way to shared memory.
 *
 * @param rounds pieces of a thread
 * @param columns of a piece
 * @param depth of a piece
 */
record TransposedTile(long rounds, int columns, int depth) {
  private static final int WARPS = 4;

  private static final int THREADS = 128;

  /**
   * A load of hardly any bytes, in loads of 16: reckoned from 13 kernels for tf32 in 4253×1274×3520
   * (TN), whose rows are read by 4 and 8 bytes.
   */
  private static final double NARROWEST = 0.28;

  /**
   * {@return the tile of so many rows, which are columns of a matrix}
   *
   * @param rows 0 for a tile that is not transposed
   * @param pitch elements of a row of the matrix
   */
  static TransposedTile of(int rows, long pitch, GemmWorkload w, HopperConfig c) {
    int depth = ThreadCopies.CHUNK / w.operands().bytes();
    int columns = Math.toIntExact(Math.min(depth, Long.lowestOneBit(pitch)));
    long all = (long) rows * c.tileK();
    return new TransposedTile(Math.ceilDiv(all, (long) depth * columns * THREADS), columns, depth);
  }

  /** Times that a thread waits for its loads. */
  long batches(int registers) {
    return rounds == 0 ? 0 : rounds / TransposedCopy.together(rounds, columns, registers);
  }

  long registers() {
    return TransposedCopy.registers(rounds, columns);
  }

  /** Loads and stores of all warps, in ones of 16 bytes for each thread. */
  double instructions() {
    double load = NARROWEST + (1 - NARROWEST) * columns / depth;
    return rounds * (depth * load + columns) * WARPS;
  }
}
