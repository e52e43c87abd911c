package dev.warpwright.families.plain;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The decisions of {@link PlainGemm}: for what no other family takes. */
public final class PlainSketch extends GemmSketch<PlainSketch.Block> {
  public static final String NAME = "plain";

  public static final KernelFamily FAMILY =
      // Two sums for each element would be sixteen: those between the two are computed, too.
      new KernelFamily(
          (workload, target) -> !workload.epilogue().glu() && !workload.epilogue().isNormed(),
          PlainSketch::new);

  private static final double LAUNCH = 3;

  /** Operations in a microsecond: each needs loads. */
  private static final double OPS = 1e6;

  /** The results of a block of threads. */
  public record Block(int rows, int columns) {}

  public PlainSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  protected Block config(Decisions d) {
    String[] block =
        d.choose("block", List.of("16x16", "8x32", "4x64", "1x128", "32x8", "8x16")).split("x");
    return new Block(Integer.parseInt(block[0]), Integer.parseInt(block[1]));
  }

  @Override
  protected @Nullable String problem(Block block) {
    return null;
  }

  @Override
  protected Features features(Block block) {
    double padded =
        (double) Math.ceilDiv(workload.m(), block.rows)
            * block.rows
            * Math.ceilDiv(workload.n(), block.columns)
            * block.columns;
    double predicted = LAUNCH + 2 * padded * workload.k() / OPS;
    return new Features(
        List.of("rows", "columns", "padded", "predicted"),
        new double[] {
          block.rows,
          block.columns,
          padded / ((double) workload.m() * workload.n()),
          Math.log(predicted) / Math.log(2)
        },
        predicted);
  }

  @Override
  protected GemmTiles tiles(Block block) {
    return GemmTiles.of(block.rows, block.columns, 1, 1);
  }

  @Override
  protected ScheduledGemm schedule(Block block) {
    return PlainGemm.schedule(workload, block.rows, block.columns);
  }
}
