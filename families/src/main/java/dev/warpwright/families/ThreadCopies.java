package dev.warpwright.families;

import dev.warpwright.lower.copy.StageCopy;
import dev.warpwright.space.Decisions;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;

/**
 * What it takes that threads, not TMA copies, bring the tiles of A and B: the rows of one of them
 * at least are no multiples of 16 bytes.
 *
 * @param instructions of all warps for the steps of a block that copy 4 to 16 bytes for each thread
 *     without waiting for them
 * @param small instructions that copy fewer bytes, through registers, or what takes as long
 * @param batches of copies through registers that a thread waits for one after the other
 * @param lines bytes of the lines that a step touches
 */
public record ThreadCopies(double instructions, double small, double batches, double lines) {
  /** Bytes whose multiples rows have to be for TMA copies. */
  public static final int CHUNK = 16;

  /** Bytes from which on a copy need not pass registers. */
  private static final int ASYNCHRONOUS = 4;

  /** The option, and the attribute, of elements that come in aligned vectors. */
  public static final String VECTORS = "shifted";

  private static final String ELEMENTS = "elements";

  /**
   * Copies of elements that take as long as one of 16 bytes by vectors. Reckoned, not measured: its
   * two loads and a store are 12 wavefronts of L1, those of an element 2 to 4, and it has about 30
   * instructions, an element about 5.
   */
  private static final double OF_VECTORS = 3;

  /** Of a step of a block with so many threads that copy, and registers to spare. */
  public static ThreadCopies of(
      GemmWorkload workload, int tileM, int tileN, int tileK, int threads, boolean vectors) {
    return of(workload, tileM, tileN, tileK, threads, vectors, Integer.MAX_VALUE);
  }

  /**
   * Of a step of a block.
   *
   * @param registers of each of the threads that copy
   */
  public static ThreadCopies of(
      GemmWorkload workload,
      int tileM,
      int tileN,
      int tileK,
      int threads,
      boolean vectors,
      int registers) {
    int bytes = workload.operands().bytes();
    long row = (long) tileK * bytes;
    long most = StageCopy.together(vectors, registers);
    return of(workload.lda() * bytes, tileM * row, row, bytes, threads, most, vectors)
        .and(of(workload.ldb() * bytes, tileN * row, row, bytes, threads, most, vectors));
  }

  /** Decides whether elements that have to be copied one by one come in vectors instead. */
  public static boolean isByVectors(Decisions d, GemmWorkload workload) {
    // Records that do not say it are of copies one by one.
    return isByElements(workload) && d.choose("copy", List.of(ELEMENTS, VECTORS)).equals(VECTORS);
  }

  /** Whether rows of an operand are no multiples of what a copy moves past registers. */
  private static boolean isByElements(GemmWorkload workload) {
    return !workload.isStrided()
        && (workload.lda() | workload.ldb()) * workload.operands().bytes() % ASYNCHRONOUS != 0;
  }

  /**
   * Of one operand.
   *
   * @param pitch bytes from a row to the next
   * @param tile bytes of a step, in rows of {@code row}
   * @param bytes of an element
   * @param most copies through registers that a thread has under way
   */
  private static ThreadCopies of(
      long pitch, long tile, long row, int bytes, int threads, long most, boolean vectors) {
    long chunk = Math.min(CHUNK, Long.lowestOneBit(pitch));
    double instructions = (double) tile / (32 * chunk);
    // A row begins anywhere in a line.
    double lines = (double) tile / row * (row + TileGrid.LINE);
    if (chunk >= ASYNCHRONOUS) {
      return new ThreadCopies(instructions, 0, 0, lines);
    }
    long rounds = Math.max(1, tile / (vectors ? CHUNK : chunk) / threads);
    long together = Math.min(most, rounds);
    while (rounds % together != 0) {
      together--;
    }
    // Registers hold elements, which are taken apart and put together again.
    double small = vectors ? OF_VECTORS * tile / (32.0 * CHUNK) : instructions * chunk / bytes;
    return new ThreadCopies(0, small, (double) rounds / together, lines);
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
