package dev.warpwright.examples;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.attention.AttentionConfig;
import dev.warpwright.families.attention.AttentionConfig.Combine;
import dev.warpwright.families.attention.AttentionKernels;
import dev.warpwright.families.attention.ProjectedAttention;
import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.plain.PlainGemm;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.SampleShapes;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Samples of more than one GEMM a kernel, or more than one kernel: split-K, fused GEMMs, attention.
 */
final class ProgramSamples {
  private static final BlockOrder ROW = new BlockOrder.Row();

  /** Rows of an output projection's weight. */
  private static final int PROJECTED = 104;

  private ProgramSamples() {}

  static void add() {
    workspaces();
    merged();
    attentions();
  }

  /** Parts of K summed by a second grid. */
  private static void workspaces() {
    HopperConfig small = HopperConfig.pairs(64, 64, 3, 1, 4).withCluster(1, 1);
    workspace("workspace", GemmWorkload.nt(100, 72, 256, DType.BF16), small, 4);
    workspace(
        "workspace-scaled",
        FamilySamples.product(70, 136, 384, DType.F16, FamilySamples.ALL),
        small,
        2);
    workspace(
        "workspace-few-rows",
        GemmWorkload.nt(13, 77, 1024, DType.BF16),
        new HopperConfig(16, 64, 64, 3, 1, 1, 1, ROW, 0, 2, true),
        2);
  }

  /** Two products in one grid. */
  private static void merged() {
    merged(
        "fused-mma-sync",
        new FfnWorkload(150, 40, 72, 136, DType.BF16),
        w ->
            PersistentFusedGemms.schedule(
                w,
                new AmpereConfig(64, 64, 32, 3, 2, 2, 1, new BlockOrder.Grouped(2), false),
                new PersistentFusedGemms.Sharing(WorkOrder.SEQUENCE, WaitPolicy.ROW, 5),
                GpuTarget.SM_80));
    merged(
        "fused-wgmma",
        new FfnWorkload(150, 40, 72, 136, DType.BF16),
        w ->
            PersistentFusedGemms.schedule(
                w,
                HopperConfig.pairs(128, 64, 3, 2, 3).withCluster(1, 1),
                new PersistentFusedGemms.Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3)));
    merged(
        "fused-threads",
        new FfnWorkload(67, 20, 70, 130, DType.F32),
        w ->
            PersistentFusedGemms.schedule(
                w,
                new SimtConfig(32, 64, 8, 16, 32, 4, 1, 2, true, true, false, 1),
                new PersistentFusedGemms.Sharing(WorkOrder.ROWS, WaitPolicy.ROW, 3),
                GpuTarget.SM_80));
  }

  /** Grouped queries over cached keys: divided keys, pages, causal tiles. */
  private static void attentions() {
    attention(
        "attention-decode",
        Attention.of(2, 4, 2, 64, 1, 83, DType.BF16),
        new AttentionConfig(16, 16, 3, 64, 2));
    attention(
        "attention-last",
        Attention.of(2, 4, 2, 64, 1, 83, DType.BF16),
        new AttentionConfig(16, 16, 3, 64, 2).combined(Combine.LAST));
    projected(
        "attention-projected",
        Attention.of(1, 8, 2, 64, 1, 64, DType.BF16),
        AttentionConfig.wgmma(64, 32, 2).withSplits(2));
    attention(
        "attention-paged",
        Attention.of(2, 3, 1, 40, 3, 61, DType.F16).withCausal(true).withPage(16),
        new AttentionConfig(16, 32, 2, 32, 1));
    attention(
        "attention-prefill",
        Attention.of(1, 2, 1, 48, 45, 50, DType.BF16).withCausal(true),
        new AttentionConfig(32, 16, 1, 64, 1));
  }

  private static void projected(String name, Attention attention, AttentionConfig config) {
    FamilySamples.subjects(
        name,
        attention,
        List.of(
            Attention.of(1, 8, 2, 64, 1, 128, DType.BF16),
            Attention.of(2, 8, 2, 64, 1, 64, DType.BF16)),
        a -> {
          CheckSubject.OfAttention whole =
              new CheckSubject.OfAttention(
                  ProjectedAttention.of(a, config, GpuTarget.SM_90A, PROJECTED));
          Program program = whole.program();
          return new CheckSubject.OfAttention(
              a,
              whole.target(),
              PROJECTED,
              new Program(
                  FamilySamples.identifier(name),
                  program.params(),
                  program.workspace(),
                  program.steps()));
        });
  }

  private static void attention(String name, Attention attention, AttentionConfig config) {
    FamilySamples.subjects(
        name,
        attention,
        SampleShapes.of(attention),
        a -> {
          AttentionKernels kernels = AttentionKernels.of(a, config, GpuTarget.SM_80);
          Program program = kernels.program();
          return new CheckSubject.OfAttention(
              kernels,
              new Program(
                  FamilySamples.identifier(name),
                  program.params(),
                  program.workspace(),
                  program.steps()));
        });
  }

  private static void merged(
      String name, FfnWorkload workload, Function<FfnWorkload, ScheduledGemm> product) {
    FamilySamples.samples(name, workload, SampleShapes.of(workload), product);
  }

  private static void workspace(
      String name, GemmWorkload workload, HopperConfig config, int parts) {
    FamilySamples.subjects(
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
              new Program(
                  FamilySamples.identifier(name),
                  program.params(),
                  program.workspace(),
                  program.steps()),
              tables,
              PlainGemm.schedule(w, 4, 16).kernel());
        });
  }
}
