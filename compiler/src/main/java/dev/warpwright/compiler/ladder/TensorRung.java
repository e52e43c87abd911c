package dev.warpwright.compiler.ladder;

import dev.warpwright.families.AmpereConfig;
import dev.warpwright.families.AmpereGemm;
import dev.warpwright.families.Epilogue;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.HopperConfig;
import dev.warpwright.families.HopperGemm;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.DType;
import dev.warpwright.target.GpuTarget;
import java.util.Optional;

/**
 * The rungs above f32: the same formula with operands in bf16 and sums in f32, on tensor cores.
 * Their schedules are those of the families of products.
 */
public enum TensorRung {
  /** Products of warps. */
  MMA_SYNC("mma-sync", "tensor cores, a warp at a time: operands in bf16, fragments by ldmatrix") {
    @Override
    ScheduledGemm schedule(GemmWorkload workload, GpuTarget target, int multiprocessors) {
      BlockOrder order = new BlockOrder.Grouped(8);
      // Rows of an odd number of elements pass through registers, which tiles of 128 leave none of.
      AmpereConfig config =
          workload.k() % 2 == 0
              ? new AmpereConfig(128, 128, 32, 4, 2, 2, 2, order, false)
              : new AmpereConfig(64, 64, 64, 3, 2, 2, 2, order, false);
      return AmpereGemm.schedule(workload, config, target);
    }

    @Override
    boolean runsOn(GpuTarget target) {
      return target.hasAmpere();
    }
  },

  /** Products of warpgroups. */
  WGMMA(
      "wgmma",
      "products of warpgroups straight from shared memory, which a producer fills by bulk copies") {
    @Override
    ScheduledGemm schedule(GemmWorkload workload, GpuTarget target, int multiprocessors) {
      HopperConfig pairs = HopperConfig.pairs(128, 256, 4, 2, multiprocessors / 2 * 2);
      // Only bulk copies go to both blocks of a pair, and they need rows of multiples of 16 bytes.
      boolean shares = workload.k() % 8 == 0 && workload.m() > pairs.tileM();
      return HopperGemm.schedule(workload, shares ? pairs : pairs.withCluster(1, 1));
    }

    @Override
    boolean runsOn(GpuTarget target) {
      return target.hasHopper();
    }
  };

  private final String text;
  private final String change;

  TensorRung(String text, String change) {
    this.text = text;
    this.change = change;
  }

  /** As it is asked for. */
  public String text() {
    return text;
  }

  /** What the rung does beyond the one before it, in one line. */
  public String change() {
    return change;
  }

  abstract ScheduledGemm schedule(GemmWorkload workload, GpuTarget target, int multiprocessors);

  abstract boolean runsOn(GpuTarget target);

  /**
   * The product for one shape.
   *
   * @param multiprocessors between which a persistent grid shares the tiles
   * @throws dev.warpwright.ir.UserError if the shape does not suit it
   */
  public ScheduledGemm schedule(long m, long n, long k, GpuTarget target, int multiprocessors) {
    GemmWorkload workload =
        new GemmWorkload(m, n, k, DType.BF16, DType.BF16, GemmWorkload.Layout.NT, Epilogue.NONE);
    return schedule(workload, target, multiprocessors);
  }

  /** The rung of this name. */
  public static Optional<TensorRung> find(String name) {
    for (TensorRung rung : values()) {
      if (rung.text.equals(name)) {
        return Optional.of(rung);
      }
    }
    return Optional.empty();
  }
}
