package dev.warpwright.families.ffn;

import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Optional;

/** Which tiles two GEMMs share that are one persistent kernel by wgmma. */
public final class FusedTiles {
  private static final int STEP = 64;
  private static final int MOST_STAGES = 8;

  private FusedTiles() {}

  /**
   * Of the tiles that fit, those with which the busiest block has the least to do.
   *
   * @param blocks that share the work
   */
  public static Optional<HopperConfig> choose(FfnWorkload workload, int blocks) {
    HopperConfig best = null;
    double least = Double.POSITIVE_INFINITY;
    for (int tileM : new int[] {64, 128}) {
      for (int tileN : new int[] {64, 96, 112, 128, 160, 192, 224, 256}) {
        for (int stages = MOST_STAGES; stages >= 3; stages--) {
          HopperConfig config =
              new HopperConfig(
                  tileM,
                  tileN,
                  STEP,
                  stages,
                  tileM / 64,
                  1,
                  1,
                  new BlockOrder.Row(),
                  blocks,
                  1,
                  false);
          if (HopperLimits.problem(workload.first(), config) != null
              || HopperLimits.problem(workload.second(), config) != null) {
            continue;
          }
          double steps = 0;
          for (GemmWorkload gemm : List.of(workload.first(), workload.second())) {
            long tiles = Math.ceilDiv(gemm.m(), tileM) * Math.ceilDiv(gemm.n(), tileN);
            steps += (double) Math.ceilDiv(tiles, blocks) * Math.ceilDiv(gemm.k(), STEP);
          }
          // A step reads its operands, or multiplies them, whichever takes longer.
          double cost = steps * Math.max((tileM + tileN) * 1.5, tileM / 64.0 * tileN);
          if (cost < least) {
            least = cost;
            best = config;
          }
          break;
        }
      }
    }
    return Optional.ofNullable(best);
  }
}
