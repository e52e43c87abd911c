package dev.warpwright.examples;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.ffn.MergedGemm;
import dev.warpwright.families.gemv.StreamedConfig;
import dev.warpwright.families.gemv.StreamedGemm;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.WorkspaceGemm;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.SampleShapes;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import dev.warpwright.workload.GemmWorkload.Leading;
import dev.warpwright.workload.Precision;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Small products out of schedules, some of each family: by threads, by warps and by warpgroups, in
 * every type and layout, with rows further apart than they are long or not aligned, scaled and
 * gated epilogues, batches, clusters with multicasts, divided work in one grid or in two, and sums
 * of no products. No extent is a whole tile; sums are long enough for rings of stages to come
 * round.
 */
public final class FamilySamples {
  private static final BlockOrder ROW = new BlockOrder.Row();

  /** Everything an epilogue can do. */
  private static final Epilogue ALL =
      new Epilogue(0.5, 2, true, Activation.RELU, true, true, true, true);

  private static final Map<String, Supplier<CheckSubject>> SAMPLES = new LinkedHashMap<>();

  private static final Map<String, List<Other>> OTHERS = new HashMap<>();

  /**
   * A sample's schedule for another shape.
   *
   * @param text the shape
   * @param subject throws what the schedule throws if it is not for such shapes
   */
  record Other(String text, Supplier<CheckSubject> subject) {}

  static {
    warps();
    warpgroups();
    warpgroupsOfOtherTypes();
    sharedTiles();
    threads();
    workspaces();
    merged();
    attentions();
  }

  private FamilySamples() {}

  /** Names of the samples. */
  public static Set<String> names() {
    return java.util.Collections.unmodifiableSet(SAMPLES.keySet());
  }

  /** A sample, or null if there is none of this name. */
  public static @Nullable CheckSubject find(String name) {
    Supplier<CheckSubject> sample = SAMPLES.get(name);
    return sample == null ? null : sample.get();
  }

  /** The schedule of a sample for other shapes, which it may refuse. */
  public static List<Other> others(String name) {
    return OTHERS.getOrDefault(name, List.of());
  }

  /** All samples in order. */
  public static List<CheckSubject> all() {
    return SAMPLES.values().stream().map(Supplier::get).toList();
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
        "mma-sync-tt-f16-swapped",
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
    sample(
        "mma-sync-e5m2-tn",
        GemmWorkload.of(48, 64, 208, DType.F8E5M2, Layout.TN),
        w ->
            AmpereGemm.schedule(
                w, new AmpereConfig(32, 64, 64, 3, 2, 2, 1, ROW, false), GpuTarget.SM_89));
    warps(
        "mma-sync-i8",
        GemmWorkload.nt(70, 72, 192, DType.I8),
        new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ROW, false));
    sample(
        "mma-sync-e4m3",
        GemmWorkload.nt(50, 70, 80, DType.F8E4M3),
        w ->
            AmpereGemm.schedule(
                w, new AmpereConfig(64, 64, 64, 3, 2, 2, 1, ROW, false), GpuTarget.SM_89));
    warps(
        "mma-sync-scaled-f16",
        new GemmWorkload(70, 136, 104, DType.F16, DType.F16, Layout.NN, ALL),
        small);
    warps(
        "mma-sync-f16-sums",
        GemmWorkload.nt(70, 72, 136, DType.F16).with(Precision.F16_ACCUMULATORS),
        small);
    sample(
        "mma-sync-f16-sums-turing",
        GemmWorkload.of(70, 72, 40, DType.F16, Layout.NN).with(Precision.F16_ACCUMULATORS),
        w -> AmpereGemm.schedule(w, small, GpuTarget.SM_75));
    warps("mma-sync-batch", GemmWorkload.nt(70, 72, 40, DType.F16).times(Batch.of(3)), small);
    warps(
        "mma-sync-grouped",
        GemmWorkload.nt(70, 72, 40, DType.F16).times(Batch.grouped(5, 3)),
        small);
    warps(
        "mma-sync-parts",
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
        product(100, 72, 264, DType.BF16, new Epilogue(0.5, 0, false, Activation.RELU)),
        HopperConfig.pairs(64, 64, 3, 1, 2).withCluster(1, 1));
    warpgroups(
        "wgmma-few-rows",
        GemmWorkload.nt(13, 200, 776, DType.BF16),
        new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 0, 2, true));
    warpgroups(
        "wgmma-few-rows-scaled",
        product(20, 77, 328, DType.BF16, ALL),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true));
    warpgroups(
        "wgmma-f16-sums",
        GemmWorkload.nt(40, 72, 392, DType.F16).with(Precision.F16_ACCUMULATORS),
        HopperConfig.pairs(64, 48, 3, 1, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-f16-sums-tt",
        GemmWorkload.of(136, 104, 72, DType.F16, Layout.TT).with(Precision.F16_ACCUMULATORS),
        HopperConfig.pairs(128, 40, 3, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-f16-sums-nn-scaled",
        new GemmWorkload(100, 72, 264, Precision.F16_ACCUMULATORS, DType.F16, Layout.NN, ALL),
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
        "wgmma-pitched",
        product(72, 76, 360, DType.BF16, ALL).with(new Leading(368, 376, 80)),
        HopperConfig.pairs(64, 48, 3, 1, 2));
    warpgroups(
        "wgmma-pitched-odd",
        GemmWorkload.nt(72, 77, 357, DType.F16).with(new Leading(360, 368, 80)),
        HopperConfig.pairs(64, 48, 3, 1, 2));
    warpgroups(
        "wgmma-pitched-few-rows",
        GemmWorkload.of(24, 76, 360, DType.F16, Layout.TN).with(new Leading(32, 80, 77)),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 1, true));
    warpgroups(
        "wgmma-batch",
        GemmWorkload.nt(70, 72, 136, DType.BF16).times(new Batch(3, false, true)),
        HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1));
    warpgroups(
        "wgmma-batch-apart",
        product(70, 72, 104, DType.BF16, ALL)
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
        "wgmma-parts",
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
        new GemmWorkload(100, 72, 464, DType.I8, DType.F32, Layout.NT, ALL),
        HopperConfig.pairs(128, 64, 3, 2, 2).withCluster(1, 2));
    warpgroups(
        "wgmma-i8-odd",
        GemmWorkload.nt(70, 45, 67, DType.I8),
        HopperConfig.pairs(64, 24, 3, 1, 2).withCluster(1, 1).withTileK(32));
    warpgroups(
        "wgmma-i8-parts",
        GemmWorkload.nt(13, 136, 656, DType.I8),
        new HopperConfig(16, 64, 128, 3, 1, 1, 1, ROW, 4, 1, true)
            .withDivision(new WorkDivision.Parts(3)));
    warpgroups(
        "wgmma-tf32",
        GemmWorkload.nt(136, 120, 44, DType.F32).with(Precision.TF32),
        HopperConfig.pairs(128, 48, 3, 2, 2).withTileK(32));
    warpgroups(
        "wgmma-e4m3",
        GemmWorkload.nt(136, 120, 144, DType.F8E4M3),
        HopperConfig.pairs(64, 48, 3, 1, 2).withTileK(128));
    warpgroups(
        "wgmma-e4m3-scaled",
        new GemmWorkload(100, 72, 464, DType.F8E4M3, DType.F16, Layout.NT, ALL),
        HopperConfig.pairs(128, 48, 3, 2, 2).withCluster(1, 1));
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

  /** Products of threads through shared memory. */
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
        new GemmWorkload(36, 68, 20, DType.F32, DType.F32, Layout.TT, ALL),
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
        "simt-along-k",
        GemmWorkload.nt(1, 130, 96, DType.F32),
        new SimtConfig(2, 32, 32, 2, 32, 1, 2, 3, true, true, true, 1));
    threads(
        "simt-parts",
        GemmWorkload.nt(37, 67, 100, DType.F32),
        new SimtConfig(32, 64, 32, 16, 64, 4, 4, 3, false, true, true, 1));
    streamed(
        "streamed", product(3, 67, 260, DType.F32, ALL), new StreamedConfig(2, 2, 16, 2, 2, 1));
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
        "plain-pitched", GemmWorkload.of(5, 3, 7, DType.F32, Layout.TN).with(new Leading(6, 7, 8)));
    plain("plain-i8", GemmWorkload.of(5, 3, 7, DType.I8, Layout.TT));
    plain("plain-f64", GemmWorkload.of(1, 1, 1, DType.F64, Layout.NT));
    plain("plain-scaled", new GemmWorkload(9, 17, 3, DType.F16, DType.F32, Layout.NT, ALL));
    plain(
        "plain-f16-sums",
        GemmWorkload.of(9, 17, 5, DType.F16, Layout.TN).with(Precision.F16_ACCUMULATORS));
    plain("plain-batch", GemmWorkload.nt(9, 17, 21, DType.F16).times(new Batch(3, true, false)));
    plain(
        "plain-batch-apart",
        GemmWorkload.of(9, 17, 5, DType.F32, Layout.TN)
            .times(new Batch(3, false, false).with(new Batch.Strides(47, 99, 157))));
    plain("plain-no-sums", GemmWorkload.of(9, 17, 0, DType.F32, Layout.TN));
    plain(
        "plain-no-sums-scaled", new GemmWorkload(9, 17, 0, DType.BF16, DType.BF16, Layout.NT, ALL));
  }

  /** Parts of K summed by a second grid. */
  private static void workspaces() {
    HopperConfig small = HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1);
    workspace("workspace", GemmWorkload.nt(100, 72, 256, DType.BF16), small, 4);
    workspace("workspace-scaled", product(70, 136, 384, DType.F16, ALL), small, 2);
    workspace(
        "workspace-few-rows",
        GemmWorkload.nt(13, 77, 1024, DType.BF16),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 2, true),
        2);
  }

  /** Two products in one grid. */
  private static void merged() {
    merged(
        "merged-mma-sync",
        new FfnWorkload(150, 40, 72, 136, DType.BF16),
        w ->
            MergedGemm.schedule(
                w,
                new AmpereConfig(64, 64, 32, 3, 2, 2, 1, new BlockOrder.Grouped(2), false),
                new MergedGemm.Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 5),
                GpuTarget.SM_80));
    merged(
        "merged-wgmma",
        new FfnWorkload(150, 40, 72, 136, DType.BF16),
        w ->
            MergedGemm.schedule(
                w,
                HopperConfig.pairs(128, 64, 3, 2, 3).withCluster(1, 1),
                new MergedGemm.Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3)));
    merged(
        "merged-threads",
        new FfnWorkload(67, 20, 70, 130, DType.F32),
        w ->
            MergedGemm.schedule(
                w,
                new SimtConfig(32, 64, 8, 16, 32, 4, 1, 2, true, true, false, 1),
                new MergedGemm.Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3),
                GpuTarget.SM_80));
  }

  /** Grouped queries over cached keys: divided keys, pages, causal tiles. */
  private static void attentions() {
    attention(
        "attention-decode",
        Attention.of(2, 4, 2, 64, 1, 83, DType.BF16),
        new AttentionConfig(16, 16, 3, 64));
    attention(
        "attention-paged",
        Attention.of(2, 3, 1, 40, 3, 61, DType.F16).withCausal(true).withPage(16),
        new AttentionConfig(16, 32, 2, 32));
    attention(
        "attention-prefill",
        Attention.of(1, 2, 1, 48, 45, 50, DType.BF16).withCausal(true),
        new AttentionConfig(32, 16, 1, 64));
  }

  private static void attention(String name, Attention attention, AttentionConfig config) {
    subjects(
        name,
        attention,
        SampleShapes.of(attention),
        a -> {
          AttentionKernels kernels = AttentionKernels.of(a, config, GpuTarget.SM_80);
          Program program = kernels.program();
          return new CheckSubject.OfAttention(
              kernels,
              new Program(
                  identifier(name), program.params(), program.workspace(), program.steps()));
        });
  }

  private static GemmWorkload product(long m, long n, long k, DType dtype, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, dtype, dtype, Layout.NT, epilogue);
  }

  private static void warps(String name, GemmWorkload workload, AmpereConfig config) {
    sample(name, workload, w -> AmpereGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void warpgroups(String name, GemmWorkload workload, HopperConfig config) {
    sample(name, workload, w -> HopperGemm.schedule(w, config));
  }

  private static void threads(String name, GemmWorkload workload, SimtConfig config) {
    sample(name, workload, w -> SimtGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void streamed(String name, GemmWorkload workload, StreamedConfig config) {
    sample(name, workload, w -> StreamedGemm.schedule(w, config, GpuTarget.SM_80));
  }

  private static void plain(String name, GemmWorkload workload) {
    sample(name, workload, w -> PlainGemm.schedule(w, 4, 16));
  }

  private static void sample(
      String name, GemmWorkload workload, Function<GemmWorkload, ScheduledGemm> product) {
    samples(name, workload, SampleShapes.of(workload), product);
  }

  private static void merged(
      String name, FfnWorkload workload, Function<FfnWorkload, ScheduledGemm> product) {
    samples(name, workload, SampleShapes.of(workload), product);
  }

  private static <W> void samples(
      String name, W workload, List<W> others, Function<W, ScheduledGemm> product) {
    subjects(
        name,
        workload,
        others,
        w -> new CheckSubject.OfKernel(named(identifier(name), product.apply(w).kernel())));
  }

  private static <W> void subjects(
      String name, W workload, List<W> others, Function<W, CheckSubject> subject) {
    SAMPLES.put(name, () -> subject.apply(workload));
    OTHERS.put(
        name,
        others.stream()
            .filter(other -> !other.equals(workload))
            .map(other -> new Other(other.toString(), () -> subject.apply(other)))
            .toList());
  }

  private static void workspace(
      String name, GemmWorkload workload, HopperConfig config, int parts) {
    subjects(
        name,
        workload,
        SampleShapes.of(workload),
        w -> {
          WorkspaceGemm gemm = WorkspaceGemm.schedule(w, config, parts);
          Program program = gemm.program();
          Map<Buffer, List<Integer>> tables = new LinkedHashMap<>();
          for (Program.ProgramParam param : program.params()) {
            if (param.role() == Program.Role.CONSTANT) {
              tables.put((Buffer) param.param(), gemm.parts().table());
            }
          }
          return new CheckSubject.OfProgram(
              new Program(identifier(name), program.params(), program.workspace(), program.steps()),
              tables,
              PlainGemm.schedule(w, 4, 16).kernel());
        });
  }

  private static String identifier(String name) {
    return name.replace('-', '_');
  }

  private static Kernel named(String name, Kernel kernel) {
    return new Kernel(
        name, kernel.kind(), kernel.params(), kernel.bindings(), kernel.body(), kernel.attrs());
  }
}
