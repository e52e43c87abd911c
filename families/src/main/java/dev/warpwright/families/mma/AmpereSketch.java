package dev.warpwright.families.mma;

import dev.warpwright.base.UserError;
import dev.warpwright.families.Divisions;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Decisions;
import dev.warpwright.tune.space.Rejected;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Map;

/**
 * The decisions of {@link AmpereGemm}: for other GPUs than Hopper, and on Hopper for matrices whose
 * rows bulk copies cannot take.
 */
public final class AmpereSketch implements GemmSketch {
  private final GemmWorkload workload;
  private final GpuTarget target;
  private final int multiprocessors;

  public AmpereSketch(GemmWorkload workload, GpuTarget target, int multiprocessors) {
    this.workload = workload;
    this.target = target;
    this.multiprocessors = multiprocessors;
  }

  @Override
  public String name() {
    return "mma";
  }

  @Override
  public Plan plan(Decisions decisions) {
    AmpereConfig config = config(decisions);
    String problem = AmpereGemm.problem(workload, config, target);
    if (problem != null) {
      throw new Rejected(problem.replaceAll("[0-9]+", "#"), problem);
    }
    return new Plan(
        AmpereModel.features(workload, config, target, multiprocessors),
        () -> {
          try {
            return AmpereGemm.schedule(workload, config, target).kernel();
          } catch (UserError e) {
            throw new Rejected("schedule", String.valueOf(e.getMessage()));
          }
        },
        Map.of());
  }

  @Override
  public ScheduledGemm schedule(Decisions decisions) {
    return AmpereGemm.schedule(workload, config(decisions), target);
  }

  private AmpereConfig config(Decisions d) {
    int bytes = workload.operands().bytes();
    int tileM = Math.toIntExact(d.choose("tileM", 32, 64, 96, 128, 256));
    int tileN = Math.toIntExact(d.choose("tileN", 32, 64, 96, 128, 256));
    String warps = d.choose("warps", List.of("2x2", "1x4", "2x4", "4x2", "4x1"));
    int tileK = Math.toIntExact(d.choose("tileK", 64 / bytes, 128 / bytes));
    int stages = Math.toIntExact(d.choose("stages", 2, 3, 4, 5));
    int minBlocks = Math.toIntExact(d.choose("minBlocks", 1, 2, 3));
    String order = d.choose("order", List.of("row", "grouped:4", "grouped:8", "grouped:16"));
    AmpereConfig whole =
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
    int workers = multiprocessors * minBlocks;
    List<String> divisions =
        Divisions.of(
            workload.batch().count()
                * Math.ceilDiv(workload.m(), tileM)
                * Math.ceilDiv(workload.n(), tileN),
            Math.ceilDiv(workload.k(), tileK),
            workers);
    if (divisions.size() == 1 || workload.precision().sums() != DType.F32) {
      return whole;
    }
    WorkDivision division = WorkDivision.parse(d.choose("division", divisions));
    return whole.withDivision(division, division instanceof WorkDivision.Stream ? workers : 0);
  }
}
