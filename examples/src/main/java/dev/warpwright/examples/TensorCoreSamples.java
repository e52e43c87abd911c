package dev.warpwright.examples;

import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.PackedGemm;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.GemmWorkload.Leading;
import dev.warpwright.workload.Precision;

/** Samples of the families of tensor cores: GEMMs of warps by mma.sync, of warpgroups by wgmma. */
final class TensorCoreSamples {
  private static final BlockOrder ROW = new BlockOrder.Row();

  private TensorCoreSamples() {}

  static void add() {
    warps();
    warpgroups();
    warpgroupsOfOtherTypes();
  }

  /** Products of warps by mma.sync. */
  private static void warps() {
    AmpereConfig small = new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ROW, false);
    warps("mma-sync-nt-bf16", GemmWorkload.nt(150, 136, 328, DType.BF16), small);
    warps(
        "mma-sync-nn-f16",
        GemmWorkload.of(200, 136, 200, DType.F16, Layout.NN),
        new AmpereConfig(128, 64, 32, 4, 2, 2, 1, new BlockOrder.Grouped(2), false));
    warps(
        "mma-sync-tt-f16-swap-ab",
        GemmWorkload.of(72, 60, 88, DType.F16, Layout.TT),
        new AmpereConfig(64, 64, 32, 3, 2, 2, 1, ROW, true));
    warps("mma-sync-odd-bf16", GemmWorkload.nt(67, 65, 101, DType.BF16), small);
    warps(
        "mma-sync-tf32",
        GemmWorkload.nt(70, 72, 52, DType.F32).with(Precision.TF32),
        new AmpereConfig(64, 64, 16, 3, 2, 2, 1, ROW, false));
    warps(
        "mma-sync-tf32-nn",
        GemmWorkload.of(70, 72, 52, DType.F32, Layout.NN).with(Precision.TF32),
        new AmpereConfig(64, 64, 16, 3, 2, 2, 1, ROW, false));
    warps("mma-sync-tn-f16", GemmWorkload.of(72, 136, 104, DType.F16, Layout.TN), small);
    warps(
        "mma-sync-i8-tt",
        GemmWorkload.of(72, 70, 192, DType.I8, Layout.TT),
        new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ROW, false));
    FamilySamples.sample(
        "mma-sync-e5m2-tn",
        GemmWorkload.of(48, 64, 208, DType.F8E5M2, Layout.TN),
        w ->
            AmpereGemm.schedule(
                w, new AmpereConfig(32, 64, 64, 3, 2, 2, 1, ROW, false), GpuTarget.SM_89));
    warps(
        "mma-sync-i8",
        GemmWorkload.nt(70, 72, 192, DType.I8),
        new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ROW, false));
    FamilySamples.sample(
        "mma-sync-e4m3",
        GemmWorkload.nt(50, 70, 80, DType.F8E4M3),
        w ->
            AmpereGemm.schedule(
                w, new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ROW, false), GpuTarget.SM_89));
    warps(
        "mma-sync-scaled-f16",
        new GemmWorkload(70, 136, 104, DType.F16, DType.F16, Layout.NN, FamilySamples.ALL),
        small);
    warps(
        "mma-sync-f16-accumulators",
        GemmWorkload.nt(70, 72, 136, DType.F16).with(Precision.F16_ACCUMULATORS),
        small);
    FamilySamples.sample(
        "mma-sync-f16-accumulators-turing",
        GemmWorkload.of(70, 72, 40, DType.F16, Layout.NN).with(Precision.F16_ACCUMULATORS),
        w -> AmpereGemm.schedule(w, small, GpuTarget.SM_75));
    warps("mma-sync-batch", GemmWorkload.nt(70, 72, 40, DType.F16).times(Batch.of(3)), small);
    warps(
        "mma-sync-grouped",
        GemmWorkload.nt(70, 72, 40, DType.F16).times(Batch.grouped(5, 3)),
        small);
    warps(
        "mma-sync-split-k",
        GemmWorkload.nt(67, 70, 331, DType.BF16),
        small.withDivision(new WorkDivision.Parts(3), 0));
    warps(
        "mma-sync-stream",
        GemmWorkload.nt(130, 200, 136, DType.BF16),
        small.withDivision(new WorkDivision.Stream(0), 5));
  }

  /** Products of warpgroups of 16-bit operands. */
  private static void warpgroups() {
    warpgroups(
        "wgmma-nt-bf16-multicast-b",
        GemmWorkload.nt(500, 264, 328, DType.BF16),
        HopperConfig.pairs(128, 128, 3, 2, 4));
    warpgroups(
        "wgmma-nt-f16-multicast-a",
        GemmWorkload.nt(136, 400, 200, DType.F16),
        HopperConfig.pairs(128, 112, 2, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-nt-bf16-cluster-2x2",
        GemmWorkload.nt(200, 200, 136, DType.BF16),
        new HopperConfig(64, 64, 64, 3, 1, 2, 2, ROW, 4, 1, false));
    warpgroups(
        "wgmma-nn-bf16",
        GemmWorkload.of(136, 200, 136, DType.BF16, Layout.NN),
        HopperConfig.pairs(64, 128, 3, 1, 2));
    warpgroups(
        "wgmma-tn-f16",
        GemmWorkload.of(200, 264, 72, DType.F16, Layout.TN),
        HopperConfig.pairs(64, 128, 3, 1, 2));
    warpgroups(
        "wgmma-tt-f16",
        GemmWorkload.of(136, 104, 72, DType.F16, Layout.TT),
        HopperConfig.pairs(128, 40, 3, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-relu",
        FamilySamples.product(
            100, 72, 264, DType.BF16, new Epilogue(0.5, 0, false, Activation.RELU)),
        HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1));
    warpgroups(
        "wgmma-few-rows",
        GemmWorkload.nt(13, 200, 776, DType.BF16),
        new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 0, 2, true));
    warpgroups(
        "wgmma-few-rows-scaled",
        FamilySamples.product(20, 77, 328, DType.BF16, FamilySamples.ALL),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true));
    warpgroups(
        "wgmma-f16-accumulators",
        GemmWorkload.nt(40, 72, 392, DType.F16).with(Precision.F16_ACCUMULATORS),
        HopperConfig.pairs(64, 48, 3, 1, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-f16-accumulators-tt",
        GemmWorkload.of(136, 104, 72, DType.F16, Layout.TT).with(Precision.F16_ACCUMULATORS),
        HopperConfig.pairs(128, 40, 3, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-f16-accumulators-nn-scaled",
        new GemmWorkload(
            100, 72, 264, Precision.F16_ACCUMULATORS, DType.F16, Layout.NN, FamilySamples.ALL),
        HopperConfig.pairs(64, 48, 3, 1, 2));
    warpgroups(
        "wgmma-odd-bf16",
        GemmWorkload.nt(127, 129, 131, DType.BF16),
        HopperConfig.pairs(64, 64, 4, 1, 2).withCluster(1, 1));
    warpgroups(
        "wgmma-even-f16",
        GemmWorkload.nt(70, 90, 198, DType.F16),
        HopperConfig.pairs(64, 48, 3, 1, 4).withCluster(1, 1));
    warpgroups(
        "wgmma-leading-dimension",
        FamilySamples.product(72, 76, 360, DType.BF16, FamilySamples.ALL)
            .with(new Leading(368, 376, 80)),
        HopperConfig.pairs(64, 48, 3, 1, 2));
    warpgroups(
        "wgmma-leading-dimension-odd",
        GemmWorkload.nt(72, 77, 357, DType.F16).with(new Leading(360, 368, 80)),
        HopperConfig.pairs(64, 48, 3, 1, 2));
    warpgroups(
        "wgmma-leading-dimension-few-rows",
        GemmWorkload.of(24, 76, 360, DType.F16, Layout.TN).with(new Leading(32, 80, 77)),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true));
    warpgroups(
        "wgmma-batch",
        GemmWorkload.nt(70, 72, 136, DType.BF16).times(new Batch(3, false, true)),
        HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1));
    warpgroups(
        "wgmma-batch-apart",
        FamilySamples.product(70, 72, 104, DType.BF16, FamilySamples.ALL)
            .times(new Batch(3, false, true).with(new Batch.Strides(7488, 0, 5120))),
        HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1));
    // As the heads of attention lie: between each other's rows.
    warpgroups(
        "wgmma-batch-interleaved",
        GemmWorkload.nt(70, 72, 136, DType.F16)
            .with(new Leading(3 * 136, 136, 3 * 72))
            .times(Batch.of(3).with(new Batch.Strides(136, 72 * 136, 72))),
        HopperConfig.pairs(64, 72, 3, 1, 4).withCluster(1, 1));
    warpgroups(
        "wgmma-grouped",
        GemmWorkload.nt(70, 72, 136, DType.BF16).times(Batch.grouped(5, 3)),
        HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1));
    warpgroups(
        "wgmma-split-k",
        GemmWorkload.nt(100, 72, 328, DType.BF16),
        HopperConfig.pairs(64, 64, 2, 1, 3)
            .withCluster(1, 1)
            .withDivision(new WorkDivision.Parts(3)));
    warpgroups(
        "wgmma-stream",
        GemmWorkload.nt(200, 264, 136, DType.BF16),
        HopperConfig.pairs(64, 64, 3, 1, 6).withDivision(new WorkDivision.Stream(1)));
  }

  private static void warpgroupsOfOtherTypes() {
    warpgroups(
        "wgmma-i8",
        GemmWorkload.nt(200, 104, 208, DType.I8),
        HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(128));
    warpgroups(
        "wgmma-i8-scaled",
        new GemmWorkload(100, 72, 464, DType.I8, DType.F32, Layout.NT, FamilySamples.ALL),
        HopperConfig.pairs(128, 64, 3, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-i8-odd",
        GemmWorkload.nt(70, 45, 67, DType.I8),
        HopperConfig.pairs(64, 24, 3, 1, 2).withCluster(1, 1).withTileK(32));
    warpgroups(
        "wgmma-i8-split-k",
        GemmWorkload.nt(13, 136, 656, DType.I8),
        new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 4, 1, true)
            .withDivision(new WorkDivision.Parts(3)));
    warpgroups(
        "wgmma-tf32",
        GemmWorkload.nt(136, 120, 44, DType.F32).with(Precision.TF32),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32));
    warpgroups(
        "wgmma-tf32-tt",
        GemmWorkload.of(136, 120, 108, DType.F32, Layout.TT).with(Precision.TF32),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32).holding());
    warpgroups(
        "wgmma-tf32-nn",
        GemmWorkload.of(100, 136, 108, DType.F32, Layout.NN).with(Precision.TF32),
        new HopperConfig(40, 128, 32, 3, 2, 1, 1, ROW, 0, 1, true).holding());
    warpgroups(
        "wgmma-tf32-tn",
        GemmWorkload.of(136, 120, 108, DType.F32, Layout.TN).with(Precision.TF32),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32).withCluster(1, 1));
    warpgroups(
        "wgmma-e4m3-nn",
        GemmWorkload.of(100, 144, 208, DType.F8E4M3, Layout.NN),
        HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(64).withCluster(1, 1));
    warpgroups(
        "wgmma-i8-tn",
        GemmWorkload.of(144, 80, 203, DType.I8, Layout.TN),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(64).withCluster(1, 1));
    packed(
        "packed-tf32-tn",
        GemmWorkload.of(136, 120, 108, DType.F32, Layout.TN).with(Precision.TF32),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32));
    packed(
        "packed-e4m3-nn",
        GemmWorkload.of(100, 144, 208, DType.F8E4M3, Layout.NN),
        HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(64).withCluster(1, 1));
    warpgroups(
        "wgmma-e4m3",
        GemmWorkload.nt(136, 120, 144, DType.F8E4M3),
        HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(128));
    warpgroups(
        "wgmma-e4m3-scaled",
        new GemmWorkload(100, 72, 464, DType.F8E4M3, DType.F16, Layout.NT, FamilySamples.ALL),
        HopperConfig.pairs(128, 48, 3, 2, 2).withCluster(1, 1));
    warpgroups(
        "wgmma-16-rows",
        new GemmWorkload(13, 88, 264, DType.BF16, DType.BF16, Layout.NT, FamilySamples.ALL),
        new HopperConfig(16, 48, 64, 3, 1, 1, 1, ROW, 0, 1, false).fromRegisters());
    warpgroups(
        "wgmma-normed",
        new GemmWorkload(
            17, 136, 264, DType.BF16, DType.BF16, Layout.NT, Epilogue.NONE.normed(1e-5)),
        new HopperConfig(24, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true));
    warpgroups(
        "wgmma-e5m2",
        new GemmWorkload(
            72,
            136,
            464,
            DType.F8E5M2,
            DType.F32,
            Layout.NT,
            new Epilogue(0.25, 0, true, Activation.RELU)),
        HopperConfig.pairs(128, 64, 3, 2, 2).withCluster(1, 2).withTileK(64));
  }

  private static void warps(String name, GemmWorkload workload, AmpereConfig config) {
    FamilySamples.sample(name, workload, w -> AmpereGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void packed(String name, GemmWorkload workload, HopperConfig config) {
    FamilySamples.sample(name, workload, w -> PackedGemm.schedule(w, config));
  }

  private static void warpgroups(String name, GemmWorkload workload, HopperConfig config) {
    FamilySamples.sample(name, workload, w -> HopperGemm.schedule(w, config));
  }
}
