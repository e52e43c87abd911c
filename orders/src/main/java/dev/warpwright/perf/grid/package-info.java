/**
 * A persistent kernel played in time: blocks draw the tiles of one GEMM, or of two chained ones, in
 * an order; those that need what others have not finished wait.
 */
package dev.warpwright.perf.grid;
