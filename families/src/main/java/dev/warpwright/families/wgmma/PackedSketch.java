package dev.warpwright.families.wgmma;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.TileFeatures;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import org.jspecify.annotations.Nullable;

/** The decisions of {@link PackedGemm}: those of the GEMM of packed operands. */
public final class PackedSketch extends GemmSketch<HopperConfig> {
  /** Of the family, as points have it. */
  public static final String NAME = "packed";

  public static final KernelFamily FAMILY =
      new KernelFamily(
          (workload, target) -> target == GpuTarget.SM_90A && PackedGemm.problem(workload) == null,
          PackedSketch::new);

  private final HopperSketch packed;

  public PackedSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
    packed = new HopperSketch(PackedGemm.packed(workload), target, sms);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  protected HopperConfig config(Decisions d) {
    return packed.config(d);
  }

  @Override
  protected @Nullable String problem(HopperConfig config) {
    return PackedGemm.problem(workload, config, sms);
  }

  @Override
  protected GemmTiles tiles(HopperConfig config) {
    return packed.tiles(config);
  }

  @Override
  protected Features features(HopperConfig config) {
    return longer(config, packed.features(config), Calibration.of(target));
  }

  @Override
  protected Features features(HopperConfig config, Calibration calibration) {
    return longer(config, packed.features(config, calibration), calibration);
  }

  private Features longer(HopperConfig config, Features tiles, Calibration calibration) {
    long blocks =
        config.blocks() > 0
            ? config.blocks()
            : Math.ceilDiv(workload.m(), (long) config.tileM())
                * Math.ceilDiv(workload.n(), (long) config.tileN())
                * (config.isPaired() ? 2 : 1);
    double threads = (double) blocks * HopperLimits.threads(config);
    double micros =
        new HopperModel(calibration)
            .packing(
                PackedGemm.bytes(workload),
                PackedGemm.aligned(workload) / threads,
                PackedGemm.transposed(workload) / threads);
    return TileFeatures.longer(tiles, micros);
  }

  @Override
  protected ScheduledGemm schedule(HopperConfig config) {
    return PackedGemm.schedule(workload, config);
  }
}
