package dev.warpwright.examples;

import dev.warpwright.families.gemv.StreamedConfig;
import dev.warpwright.families.gemv.StreamedGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.GemmWorkload.Leading;
import dev.warpwright.workload.Precision;

/** Samples of the families of single threads: SIMT, GEMV and plain. */
final class ThreadSamples {
  private ThreadSamples() {}

  static void add() {
    sharedTiles();
    threads();
  }

  /** GEMMs by fma through shared memory. */
  private static void sharedTiles() {
    threads(
        "simt-nt",
        GemmWorkload.nt(67, 130, 44, DType.F32),
        new SimtConfig(32, 64, 8, 16, 32, 4, 1, 2, true, true, false, 1));
    threads(
        "simt-tn-asynchronous",
        GemmWorkload.of(37, 67, 50, DType.F32, Layout.TN),
        new SimtConfig(32, 64, 8, 32, 32, 4, 1, 4, true, true, false, 1));
    threads(
        "simt-tt-scaled",
        new GemmWorkload(36, 68, 20, DType.F32, DType.F32, Layout.TT, FamilySamples.ALL),
        new SimtConfig(32, 64, 8, 32, 32, 4, 1, 4, true, true, false, 1));
    threads(
        "simt-sliced",
        GemmWorkload.nt(3, 130, 96, DType.F32),
        new SimtConfig(4, 32, 32, 4, 32, 1, 4, 3, false, false, false, 1));
    threads(
        "simt-shared-tiles",
        GemmWorkload.nt(67, 70, 44, DType.F32),
        new SimtConfig(32, 64, 8, 16, 32, 4, 1, 3, true, true, false, 1).shared(3, 3));
    threads(
        "simt-k-major",
        GemmWorkload.nt(1, 130, 96, DType.F32),
        new SimtConfig(2, 32, 32, 2, 32, 1, 2, 3, true, true, true, 1));
    threads(
        "simt-split-k",
        GemmWorkload.nt(37, 67, 100, DType.F32),
        new SimtConfig(32, 64, 32, 16, 64, 4, 4, 3, false, true, true, 1));
    streamed(
        "streamed",
        FamilySamples.product(3, 67, 260, DType.F32, FamilySamples.ALL),
        new StreamedConfig(2, 2, 16, 2, 2, 1));
    streamed(
        "streamed-f64",
        GemmWorkload.nt(1, 33, 70, DType.F64),
        new StreamedConfig(1, 2, 32, 1, 2, 1));
    threads(
        "simt-f64",
        GemmWorkload.nt(37, 67, 19, DType.F64),
        new SimtConfig(32, 64, 8, 16, 32, 4, 1, 2, true, true, false, 1));
  }

  /** Products of one thread for each element. */
  private static void threads() {
    plain("plain-e4m3", GemmWorkload.of(17, 9, 5, DType.F8E4M3, Layout.NT));
    plain("plain-e5m2", GemmWorkload.of(5, 33, 7, DType.F8E5M2, Layout.NN));
    plain("plain-bf16", GemmWorkload.of(5, 3, 7, DType.BF16, Layout.TN));
    plain(
        "plain-leading-dimension",
        GemmWorkload.of(5, 3, 7, DType.F32, Layout.TN).with(new Leading(6, 7, 8)));
    plain("plain-i8", GemmWorkload.of(5, 3, 7, DType.I8, Layout.TT));
    plain("plain-f64", GemmWorkload.of(1, 1, 1, DType.F64, Layout.NT));
    plain(
        "plain-scaled",
        new GemmWorkload(9, 17, 3, DType.F16, DType.F32, Layout.NT, FamilySamples.ALL));
    plain(
        "plain-f16-accumulators",
        GemmWorkload.of(9, 17, 5, DType.F16, Layout.TN).with(Precision.F16_ACCUMULATORS));
    plain("plain-batch", GemmWorkload.nt(9, 17, 21, DType.F16).times(new Batch(3, true, false)));
    plain(
        "plain-batch-apart",
        GemmWorkload.of(9, 17, 5, DType.F32, Layout.TN)
            .times(new Batch(3, false, false).with(new Batch.Strides(47, 99, 157))));
    plain("plain-k0", GemmWorkload.of(9, 17, 0, DType.F32, Layout.TN));
    plain(
        "plain-k0-scaled",
        new GemmWorkload(9, 17, 0, DType.BF16, DType.BF16, Layout.NT, FamilySamples.ALL));
  }

  private static void threads(String name, GemmWorkload workload, SimtConfig config) {
    FamilySamples.sample(name, workload, w -> SimtGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void streamed(String name, GemmWorkload workload, StreamedConfig config) {
    FamilySamples.sample(name, workload, w -> StreamedGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void plain(String name, GemmWorkload workload) {
    FamilySamples.sample(name, workload, w -> PlainGemm.schedule(w, 4, 16));
  }
}
