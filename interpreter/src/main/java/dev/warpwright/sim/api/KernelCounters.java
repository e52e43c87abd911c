package dev.warpwright.sim.api;

import java.util.List;

/**
 * What the warps of one launch ask of the memories, and what the caches answer. Requests are those
 * of the kernel's text: a compiler may join or drop some.
 *
 * @param sharedLoads of plain loads, with the data path's cycles and those lost to bank conflicts
 * @param sharedStores of plain stores
 * @param matrixLoads of {@code ldmatrix}
 * @param matrixStores of {@code stmatrix}
 * @param globalLoads of plain loads
 * @param globalStores of plain stores
 * @param asyncLoads of {@code cp.async}
 * @param asyncStores what {@code cp.async} writes to shared memory
 * @param bulkLoadSectors that TMA copies read, a multicast counted once
 * @param bulkStoreSectors that TMA copies write
 * @param multicastSectors that reach further blocks of a cluster without another read
 * @param l2ReadSectors that reach the second level
 * @param l2WriteSectors that reach the second level
 * @param dramReadBytes that the second level fetches
 * @param dramWriteBytes that it writes back before the kernel ends
 * @param multiplyAdds of threads
 * @param matrixMultiplyAdds of tensor cores
 * @param statements the same for each statement that has requests, in order of their first
 */
public record KernelCounters(
    Requests sharedLoads,
    Requests sharedStores,
    Requests matrixLoads,
    Requests matrixStores,
    Requests globalLoads,
    Requests globalStores,
    Requests asyncLoads,
    Requests asyncStores,
    long bulkLoadSectors,
    long bulkStoreSectors,
    long multicastSectors,
    long l2ReadSectors,
    long l2WriteSectors,
    long dramReadBytes,
    long dramWriteBytes,
    long multiplyAdds,
    long matrixMultiplyAdds,
    List<OfStatement> statements) {
  /**
   * Requests of warps.
   *
   * @param count how many requests there are
   * @param units wavefronts of shared memory, or sectors of 32 bytes of global memory
   * @param least how few they could be for these bytes: {@code units - least} is lost to bank
   *     conflicts, or to accesses that do not coalesce
   */
  public record Requests(long count, long units, long least) {
    /**
     * {@return what is lost to bank conflicts, or to accesses that do not coalesce: {@code units -
     * least}}
     */
    public long lost() {
      return units - least;
    }
  }

  /**
   * One statement.
   *
   * @param line of the kernel's text
   * @param statement its text
   * @param what it asks for, as {@code shared load}
   * @param requests of all warps
   */
  public record OfStatement(int line, String statement, String what, Requests requests) {}

  /**
   * Sizes of the caches behind which the device's memory lies.
   *
   * @param l1Bytes of each SM
   * @param l2Bytes of the device
   * @param sms how many L1 there are
   */
  public record Caches(long l1Bytes, long l2Bytes, int sms) {
    /** An H200 whose shared memory takes most of the first level. */
    public static final Caches H200 = new Caches(96 << 10, 60L << 20, 132);
  }

  /** Copies the list. */
  public KernelCounters {
    statements = List.copyOf(statements);
  }
}
