package dev.warpwright.compiler.fusion;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.program.CompiledKernel;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.KernelCall;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.compiler.program.ProgramAssembly;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.ffn.FusedTiles;
import dev.warpwright.families.ffn.PersistentFusedGemms;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.order.WaitPolicy;
import dev.warpwright.ir.order.WorkOrder;
import dev.warpwright.model.function.NetworkFunction;
import dev.warpwright.model.function.NetworkFunction.Load;
import dev.warpwright.model.function.NetworkFunction.Stage;
import dev.warpwright.networks.layers.FixedRows;
import dev.warpwright.networks.layers.LayerGemm;
import dev.warpwright.networks.layers.LayerParts;
import dev.warpwright.networks.layers.LayerParts.Part;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.FfnWorkload;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A feed-forward block whose two GEMMs are one persistent kernel ({@link PersistentFusedGemms}):
 * tiles of the second are begun when those of the first that they read are there. The planner does
 * not choose it; it is there to be measured.
 */
final class FusedBlock {
  /** What the names of its ways begin with. */
  static final String NAME = "both GEMMs in one grid";

  private final NetworkFunction network;
  private final List<PackedConstant> constants = new ArrayList<>();

  private FusedBlock(NetworkFunction network) {
    this.network = network;
    network.constants().forEach(constant -> constants.add(PackedConstant.plain(constant)));
  }

  /**
   * Compiles.
   *
   * @throws UserError if it is not two GEMMs with a GELU between them, or they do not fit
   */
  static CompiledProgram of(FusionInput in, WorkOrder order, WaitPolicy waits, int sms) {
    if (!in.target().hasHopper()) {
      throw new UserError("order= and wait=: one kernel of both GEMMs is for sm_90a");
    }
    return new FusedBlock(FixedRows.of(in.network(), in.rows()))
        .compile(in.rows(), in.target(), in.precision(), order, waits, sms);
  }

  private CompiledProgram compile(
      int rows, GpuTarget target, Precision precision, WorkOrder order, WaitPolicy waits, int sms) {
    Map<Buffer, Buffer> originals = new HashMap<>();
    List<LayerGemm> gemms = new ArrayList<>();
    List<String> stages = new ArrayList<>();
    for (Part part : LayerParts.of(network, precision, workload -> true)) {
      part.stages().stream().map(Stage::block).forEach(stages::add);
      if (part.product() != null) {
        gemms.add(part.product());
      } else if (part.stages().size() == 1
          && part.stages().getFirst() instanceof Load(String _, Buffer from, Buffer to)
          && LayerGemm.alike(from, to)) {
        originals.put(to, from);
      } else {
        throw unfit();
      }
    }
    if (gemms.size() != 2) {
      throw unfit();
    }
    LayerGemm first = gemms.getFirst();
    LayerGemm second = gemms.getLast();
    FfnWorkload workload = workload(first, second);
    HopperConfig config = FusedTiles.choose(workload, sms).orElseThrow(FusedBlock::unfit);
    ScheduledGemm merged =
        merged(workload, config, new PersistentFusedGemms.Sharing(order, waits, sms));
    BoundKernel bound = BoundKernel.of(merged.kernel(), Map.of());
    Map<String, Buffer> operands =
        Map.of(
            "X",
            originals.getOrDefault(first.product().a(), first.product().a()),
            "W1",
            first.product().weight(),
            "H",
            first.result(),
            "W2",
            second.product().weight(),
            "Y",
            second.result());
    CompiledKernel compiled =
        new CompiledKernel(
            bound.kernel(),
            merged.func(),
            merged.trace(),
            merged.tiles(),
            name(order, waits),
            String.format(
                Locale.ROOT,
                "it was asked for: %d blocks take tiles of %d x %d of both GEMMs, %s",
                sms,
                config.tileM(),
                config.tileN(),
                order == WorkOrder.ROWS ? "row by row" : "the first one's first"),
            stages);
    Map<Buffer, Buffer> tables = new FamilyCalls(constants).tables(bound, values -> values);
    List<KernelCall> calls = List.of(FamilyCalls.call(compiled, bound, operands, tables));
    return new CompiledProgram(
        network,
        precision,
        target,
        ProgramAssembly.assemble(
            network, calls, Map.of(), constants.stream().map(PackedConstant::buffer).toList()),
        constants,
        List.of(compiled),
        OptionalInt.of(rows));
  }

  private static ScheduledGemm merged(
      FfnWorkload workload, HopperConfig config, PersistentFusedGemms.Sharing sharing) {
    try {
      return PersistentFusedGemms.schedule(workload, config, sharing);
    } catch (ScheduleError e) {
      throw new UserError(
          "order= and wait=: the GEMMs of this block cannot share a kernel: "
              + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  /** By which it is measured and recorded. */
  static String name(WorkOrder order, WaitPolicy waits) {
    return NAME + " order=" + order.text() + " wait=" + waits.text();
  }

  private static UserError unfit() {
    return new UserError(
        "order= and wait= are for blocks of two GEMMs with a GELU between them, gated=0 bias=0"
            + " act=gelu, in f16 or bf16, of widths that are multiples of 16");
  }

  private static FfnWorkload workload(LayerGemm first, LayerGemm second) {
    GemmWorkload one = first.workload();
    GemmWorkload two = second.workload();
    boolean fits =
        one.epilogue().equals(new Epilogue(1, 0, false, Activation.GELU))
            && two.epilogue().equals(Epilogue.NONE)
            && one.layout() == GemmWorkload.Layout.NT
            && two.layout() == GemmWorkload.Layout.NT
            && second.product().a() == first.result()
            && one.result() == one.operands();
    if (!fits) {
      throw unfit();
    }
    return new FfnWorkload(one.m(), one.k(), one.n(), two.n(), one.operands(), two.result());
  }
}
