package dev.warpwright.families.plain;

import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.tune.space.Decisions;
import dev.warpwright.tune.space.Features;
import dev.warpwright.tune.space.Rejected;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Map;

/** The decisions of {@link PlainGemm}: for what no other family takes. */
public final class PlainSketch implements GemmSketch {
  private static final double LAUNCH = 3;

  /** Operations in a microsecond: each needs loads. */
  private static final double OPS = 1e6;

  private final GemmWorkload workload;

  public PlainSketch(GemmWorkload workload) {
    this.workload = workload;
  }

  @Override
  public String name() {
    return "plain";
  }

  @Override
  public Plan plan(Decisions decisions) {
    int[] block = block(decisions);
    double padded =
        (double) Math.ceilDiv(workload.m(), block[0])
            * block[0]
            * Math.ceilDiv(workload.n(), block[1])
            * block[1];
    double predicted = LAUNCH + 2 * padded * workload.k() / OPS;
    return new Plan(
        new Features(
            List.of("rows", "columns", "padded", "predicted"),
            new double[] {
              block[0],
              block[1],
              padded / ((double) workload.m() * workload.n()),
              Math.log(predicted) / Math.log(2)
            },
            predicted),
        () -> {
          try {
            return PlainGemm.schedule(workload, block[0], block[1]).kernel();
          } catch (UserError e) {
            throw new Rejected("schedule", String.valueOf(e.getMessage()));
          }
        },
        Map.of());
  }

  @Override
  public ScheduledGemm schedule(Decisions decisions) {
    int[] block = block(decisions);
    return PlainGemm.schedule(workload, block[0], block[1]);
  }

  private static int[] block(Decisions d) {
    String[] block =
        d.choose("block", List.of("16x16", "8x32", "4x64", "1x128", "32x8", "8x16")).split("x");
    return new int[] {Integer.parseInt(block[0]), Integer.parseInt(block[1])};
  }
}
