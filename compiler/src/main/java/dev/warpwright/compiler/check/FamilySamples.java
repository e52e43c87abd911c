package dev.warpwright.compiler.check;

import dev.warpwright.families.Activation;
import dev.warpwright.families.AmpereConfig;
import dev.warpwright.families.AmpereGemm;
import dev.warpwright.families.Epilogue;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.HopperConfig;
import dev.warpwright.families.HopperGemm;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Kernel;
import dev.warpwright.target.GpuTarget;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Small products out of schedules, some of each family: products of warps and of warpgroups, both
 * layouts, clusters with multicasts along either side, few rows. No extent is a whole tile.
 */
public final class FamilySamples {
  private static final Map<String, Supplier<Kernel>> SAMPLES = samples();

  private FamilySamples() {}

  private static Map<String, Supplier<Kernel>> samples() {
    Map<String, Supplier<Kernel>> samples = new LinkedHashMap<>();
    samples.put(
        "mma-sync-nt-bf16",
        () ->
            AmpereGemm.schedule(
                    GemmWorkload.nt(150, 136, 328, DType.BF16),
                    new AmpereConfig(64, 64, 32, 3, 2, 2, 1, new BlockOrder.Row(), false),
                    GpuTarget.SM_80)
                .kernel());
    samples.put(
        "mma-sync-nn-f16",
        () ->
            AmpereGemm.schedule(
                    product(200, 136, 200, DType.F16, GemmWorkload.Layout.NN),
                    new AmpereConfig(128, 64, 32, 4, 2, 2, 1, new BlockOrder.Grouped(2), false),
                    GpuTarget.SM_80)
                .kernel());
    samples.put(
        "wgmma-nt-bf16-multicast-b",
        () ->
            HopperGemm.schedule(
                    GemmWorkload.nt(500, 264, 328, DType.BF16),
                    HopperConfig.pairs(128, 128, 3, 2, 4))
                .kernel());
    samples.put(
        "wgmma-nt-f16-multicast-a",
        () ->
            HopperGemm.schedule(
                    GemmWorkload.nt(136, 400, 200, DType.F16),
                    HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2))
                .kernel());
    samples.put(
        "wgmma-nn-bf16",
        () ->
            HopperGemm.schedule(
                    product(136, 200, 136, DType.BF16, GemmWorkload.Layout.NN),
                    HopperConfig.pairs(64, 128, 3, 1, 2))
                .kernel());
    samples.put(
        "wgmma-relu",
        () ->
            HopperGemm.schedule(
                    new GemmWorkload(
                        100,
                        72,
                        264,
                        DType.BF16,
                        DType.BF16,
                        GemmWorkload.Layout.NT,
                        new Epilogue(0.5, 0, false, Activation.RELU)),
                    HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1))
                .kernel());
    samples.put(
        "wgmma-few-rows",
        () ->
            HopperGemm.schedule(
                    GemmWorkload.nt(13, 200, 264, DType.BF16),
                    new HopperConfig(16, 64, 128, 3, 1, 1, 1, new BlockOrder.Row(), 0, 2, true))
                .kernel());
    return samples;
  }

  private static GemmWorkload product(
      long m, long n, long k, DType dtype, GemmWorkload.Layout layout) {
    return new GemmWorkload(m, n, k, dtype, dtype, layout, Epilogue.NONE);
  }

  /** The kernels by name. */
  public static Map<String, Kernel> kernels() {
    Map<String, Kernel> kernels = new LinkedHashMap<>();
    SAMPLES.forEach((name, kernel) -> kernels.put(name, named(name, kernel.get())));
    return kernels;
  }

  private static Kernel named(String name, Kernel kernel) {
    return new Kernel(
        name.replace('-', '_'),
        kernel.kind(),
        kernel.params(),
        kernel.bindings(),
        kernel.body(),
        kernel.attrs());
  }
}
