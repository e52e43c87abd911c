package dev.warpwright.families.mma;

import dev.warpwright.families.Divisions;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.ThreadCopies;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of {@link AmpereGemm}: for other GPUs than Hopper, and on Hopper for matrices whose
 * rows TMA copies cannot take.
 */
public final class AmpereSketch extends GemmSketch<AmpereConfig> {
  /** Of the family, as points have it. */
  public static final String NAME = "mma";

  public static final KernelFamily FAMILY =
      new KernelFamily(
          (workload, target) ->
              workload.k() > 0 && AmpereGemm.operandsProblem(workload, target) == null,
          AmpereSketch::new);

  private final AmpereModel model;

  public AmpereSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
    model = new AmpereModel(Calibration.of(target));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  protected @Nullable String problem(AmpereConfig config) {
    return AmpereGemm.problem(workload, config, target);
  }

  @Override
  protected GemmTiles tiles(AmpereConfig c) {
    return c.tiles();
  }

  @Override
  protected Features features(AmpereConfig config) {
    return model.features(workload, config, sms);
  }

  @Override
  protected Features features(AmpereConfig config, Calibration calibration) {
    return new AmpereModel(calibration).features(workload, config, sms);
  }

  @Override
  protected ScheduledGemm schedule(AmpereConfig config) {
    return AmpereGemm.schedule(workload, config, target);
  }

  @Override
  protected AmpereConfig config(Decisions d) {
    int bytes = workload.operands().bytes();
    int tileM = number(d, "tileM", 32, 64, 96, 128, 256);
    int tileN = number(d, "tileN", 32, 64, 96, 128, 256);
    String warps = d.choose("warps", List.of("2x2", "1x4", "2x4", "4x2", "4x1"));
    int tileK = number(d, "tileK", 64 / bytes, 128 / bytes);
    int stages = number(d, "stages", 2, 3, 4, 5);
    int minBlocks = number(d, "minBlocks", 1, 2, 3);
    String order = d.choose("order", orders(tileM, tileN));
    AmpereConfig plain =
        new AmpereConfig(
            tileM,
            tileN,
            tileK,
            stages,
            warps.charAt(0) - '0',
            warps.charAt(2) - '0',
            minBlocks,
            BlockOrder.parse(order),
            workload.layout() == GemmWorkload.Layout.TT);
    AmpereConfig whole = ThreadCopies.isByVectors(d, workload) ? plain.withVectors() : plain;
    int workers = sms * minBlocks;
    List<String> divisions =
        Divisions.of(
            workload.batch().count()
                * Math.ceilDiv(workload.m(), tileM)
                * Math.ceilDiv(workload.n(), tileN),
            Math.ceilDiv(workload.k(), tileK),
            workers);
    if (divisions.size() == 1 || workload.precision().accumulators() != DType.F32) {
      return whole;
    }
    WorkDivision division = WorkDivision.parse(d.choose("division", divisions));
    return whole.withDivision(division, division instanceof WorkDivision.Stream ? workers : 0);
  }

  /** Orders that differ from row by row: a table of them costs what it has to give back. */
  private List<String> orders(int tileM, int tileN) {
    long rows = workload.batch().count() * Math.ceilDiv(workload.m(), tileM);
    List<String> orders = new ArrayList<>(List.of("row"));
    if (Math.ceilDiv(workload.n(), tileN) > 1) {
      for (int group : new int[] {4, 8, 16}) {
        if (group < rows) {
          orders.add("grouped:" + group);
        }
      }
    }
    return orders;
  }
}
