package dev.warpwright.perf.order;

/**
 * A tile of a result, or of the second result one of its partial sums.
 *
 * @param gemm 0, or 1 for the second of two chained matmuls
 * @param row of tiles in that result
 * @param column of tiles in that result
 * @param part of the second matmul's K, from 0; 0 where K is in one part
 */
public record WorkItem(int gemm, int row, int column, int part) {
  /** A tile whose K is in one part. */
  public WorkItem(int gemm, int row, int column) {
    this(gemm, row, column, 0);
  }
}
