package dev.warpwright.families;

import dev.warpwright.workload.GemmWorkload;

/**
 * What it takes that threads, not TMA copies, bring the tiles of A and B: the rows of one of them
 * at least are no multiples of 16 bytes.
 *
 * @param instructions of all warps for the steps of a block that copy 4 to 16 bytes for each thread
 *     without waiting for them
 * @param small instructions that copy fewer bytes, through registers
 * @param batches of copies through registers that a thread waits for one after the other
 * @param lines bytes of the lines that a step touches
 */
public record ThreadCopies(double instructions, double small, double batches, double lines) {
  /** Bytes whose multiples rows have to be for TMA copies. */
  public static final int CHUNK = 16;

  /** Bytes from which on a copy need not pass registers. */
  private static final int ASYNCHRONOUS = 4;

  /** Copies through registers that a thread of a producer has under way. */
  private static final int TOGETHER = 8;

  /** Of a step of a block with so many threads that copy. */
  public static ThreadCopies of(
      GemmWorkload workload, int tileM, int tileN, int tileK, int threads) {
    int bytes = workload.operands().bytes();
    return of(workload.lda() * bytes, tileM, (long) tileK * bytes, threads)
        .and(of(workload.ldb() * bytes, tileN, (long) tileK * bytes, threads));
  }

  private static ThreadCopies of(long pitch, int rows, long row, int threads) {
    long chunk = Math.min(CHUNK, Long.lowestOneBit(pitch));
    double instructions = (double) rows * row / (32 * chunk);
    // A row begins anywhere in a line.
    double lines = (double) rows * (row + TileGrid.LINE);
    if (chunk >= ASYNCHRONOUS) {
      return new ThreadCopies(instructions, 0, 0, lines);
    }
    long rounds = Math.max(1, rows * row / chunk / threads);
    long together = Math.min(TOGETHER, rounds);
    while (rounds % together != 0) {
      together--;
    }
    return new ThreadCopies(0, instructions, (double) rounds / together, lines);
  }

  private ThreadCopies and(ThreadCopies other) {
    return new ThreadCopies(
        instructions + other.instructions,
        small + other.small,
        batches + other.batches,
        lines + other.lines);
  }

  /** Whether TMA copies can bring both. */
  public static boolean isTma(GemmWorkload workload) {
    return (workload.lda() | workload.ldb()) * workload.operands().bytes() % CHUNK == 0;
  }
}
