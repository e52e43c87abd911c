package dev.warpwright.compiler.fusion;

import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.ir.Var;
import dev.warpwright.perf.TileTraffic;
import java.util.List;
import java.util.Map;

/**
 * A rough time of staged kernels, to choose between ways of cutting a network into kernels. Staged
 * tiles are bound by the latency of their copies: a block brings in so many bytes in a microsecond
 * whatever it computes, and blocks beyond the SMs wait. Good for ratios of an order of magnitude,
 * not for times.
 */
final class PredictedTime {
  /**
   * Measured on an H200 with slices staged one after the other: 14 to 16 kB a microsecond and
   * block.
   */
  private static final double BLOCK_BYTES_PER_US = 15_000;

  /** A common size of the GPUs that are generated for. */
  private static final int SMS = 100;

  private static final double LAUNCH_US = 3;

  private PredictedTime() {}

  static double micros(List<CompiledKernel> kernels, Var rows, long count) {
    double total = 0;
    for (CompiledKernel kernel : kernels) {
      TileTraffic traffic = TileTraffic.of(kernel.tileProgram(), Map.of(rows, count));
      double blocks = Math.max(1, traffic.blocks());
      double waves = Math.max(1, blocks / SMS);
      total += LAUNCH_US + waves * traffic.tileBytes() / blocks / BLOCK_BYTES_PER_US;
    }
    return total;
  }
}
