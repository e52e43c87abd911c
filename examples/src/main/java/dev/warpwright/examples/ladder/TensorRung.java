package dev.warpwright.examples.ladder;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.type.DType;
import dev.warpwright.schedule.Schedule;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import java.util.Locale;
import java.util.Optional;

/**
 * The rungs above f32: the same formula with operands in bf16 and sums in f32, on tensor cores.
 * Each has its schedule in a file of its own; the kernels are those of the families of products.
 */
public enum TensorRung {
  /** Products of warps. */
  MMA_SYNC("mma-sync", "tensor cores, a warp at a time: operands in bf16, fragments by ldmatrix") {
    @Override
    Schedule schedule(PrimFunc matmul, GemmWorkload workload, int sms) {
      Schedule s = MmaSync.schedule(matmul, workload.k());
      s.annotate("arch", GpuTarget.SM_80.name());
      return s;
    }

    @Override
    boolean runsOn(GpuTarget target) {
      return target.hasAmpere();
    }
  },

  /** Products of warpgroups. */
  WGMMA(
      "wgmma",
      "GEMMs of warpgroups straight from shared memory, which a producer fills by TMA copies") {
    @Override
    Schedule schedule(PrimFunc matmul, GemmWorkload workload, int sms) {
      // Only TMA copies go to both blocks of a pair, and they need rows of multiples of 16 bytes.
      boolean pairs = workload.k() % 8 == 0 && workload.m() > 128;
      return Wgmma.schedule(matmul, pairs, sms / 2 * 2);
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

  abstract Schedule schedule(PrimFunc matmul, GemmWorkload workload, int sms);

  abstract boolean runsOn(GpuTarget target);

  /** Why a target does not have it. */
  String whyNot(GpuTarget target) {
    return String.format(
        Locale.ROOT,
        "%s needs %s, the target is %s",
        text,
        this == WGMMA ? "sm_90a" : "sm_80 or newer",
        target.name());
  }

  /**
   * The product for one shape.
   *
   * @param sms between which a persistent grid shares the tiles
   * @throws dev.warpwright.base.UserError if the shape does not suit it
   */
  public ScheduledGemm schedule(long m, long n, long k, GpuTarget target, int sms) {
    GemmWorkload workload =
        new GemmWorkload(m, n, k, DType.BF16, DType.BF16, GemmWorkload.Layout.NT, Epilogue.NONE);
    PrimFunc matmul = workload.func();
    Schedule s = schedule(matmul, workload, sms);
    s.annotate("workload", workload.kind());
    return ScheduledGemm.of(matmul, s, target);
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
