package dev.warpwright.perf.order;

/**
 * A tile of a result.
 *
 * @param gemm 0, or 1 for the second of two chained matmuls
 * @param row of tiles in that result
 * @param column of tiles in that result
 */
public record WorkItem(int gemm, int row, int column) {}
