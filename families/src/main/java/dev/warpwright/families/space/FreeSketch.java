package dev.warpwright.families.space;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.mma.AmpereModel;
import dev.warpwright.families.simt.SimtConfig;
import dev.warpwright.families.simt.SimtGemm;
import dev.warpwright.families.simt.SimtLimits;
import dev.warpwright.families.simt.SimtModel;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.families.wgmma.HopperLimits;
import dev.warpwright.families.wgmma.HopperModel;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.space.Rejected;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Schedules of one kind of arithmetic by rules alone: every size that instructions and hardware
 * allow, in every combination, where the {@linkplain GemmSpace#of families' sketches} offer what
 * has proved itself. Most points are impossible, and are rejected with what does not fit.
 */
final class FreeSketch extends GemmSketch<FreeSketch.Made> {
  /** What names of these sketches begin with. */
  static final String PREFIX = "free-";

  /** What multiplies. */
  enum Engine {
    WGMMA,
    MMA,
    SIMT
  }

  private static final List<String> FEATURES =
      List.of(
          "engine",
          "tileM",
          "tileN",
          "tileK",
          "stages",
          "threads",
          "minBlocks",
          "persistent",
          "cluster",
          "swapped",
          "predicted");

  private final Engine engine;

  private FreeSketch(Engine engine, GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
    this.engine = engine;
  }

  /** A sketch for each kind of arithmetic that can compute a product on a target. */
  static List<GemmSketch<?>> all(GemmWorkload workload, GpuTarget target, int sms) {
    List<GemmSketch<?>> sketches = new ArrayList<>();
    if (workload.k() == 0 || workload.epilogue().glu()) {
      return sketches;
    }
    if (target == GpuTarget.SM_90A && HopperLimits.operandsProblem(workload) == null) {
      sketches.add(new FreeSketch(Engine.WGMMA, workload, target, sms));
    }
    if (AmpereGemm.operandsProblem(workload, target) == null) {
      sketches.add(new FreeSketch(Engine.MMA, workload, target, sms));
    }
    if (SimtLimits.operandsProblem(workload) == null) {
      sketches.add(new FreeSketch(Engine.SIMT, workload, target, sms));
    }
    return sketches;
  }

  @Override
  public String name() {
    return PREFIX + engine.name().toLowerCase(Locale.ROOT);
  }

  /** A possible schedule. */
  record Made(GemmTiles tiles, Features features, Supplier<ScheduledGemm> schedule) {}

  @Override
  protected @Nullable String problem(Made made) {
    return null;
  }

  @Override
  protected Features features(Made made) {
    return made.features();
  }

  @Override
  protected GemmTiles tiles(Made made) {
    return made.tiles();
  }

  @Override
  protected ScheduledGemm schedule(Made made) {
    return made.schedule().get();
  }

  @Override
  protected Made config(Decisions decisions) {
    return switch (engine) {
      case WGMMA -> wgmma(decisions);
      case MMA -> mma(decisions);
      case SIMT -> simt(decisions);
    };
  }

  private Made wgmma(Decisions d) {
    int bytes = workload.operands().bytes();
    boolean swapAb = d.choose("swapped");
    // Of the instruction: its rows are a warpgroup's, its columns go in steps of 8.
    int rows = number(d, "rows", steps(64, 256, 64));
    int columns = number(d, "columns", steps(8, 256, 8));
    int tileK = number(d, "tileK", steps(32 / bytes, 256 / bytes, 32 / bytes));
    int stages = number(d, "stages", steps(2, 12, 1));
    int consumers = number(d, "consumers", steps(1, 4, 1));
    int clusterM = number(d, "clusterM", 1, 2, 4);
    int clusterN = number(d, "clusterN", 1, 2, 4);
    int minBlocks = number(d, "minBlocks", steps(1, 4, 1));
    boolean persistent = d.choose("persistent");
    BlockOrder order = order(d);
    int cluster = clusterM * clusterN;
    int blocks = persistent ? sms * minBlocks / cluster * cluster : 0;
    HopperConfig config =
        new HopperConfig(
            swapAb ? columns : rows,
            swapAb ? rows : columns,
            tileK,
            stages,
            consumers,
            clusterM,
            clusterN,
            persistent ? order : new BlockOrder.Row(),
            blocks,
            minBlocks,
            swapAb);
    check(HopperLimits.problem(workload, config));
    return made(
        config.tiles(),
        128 * (consumers + 1),
        swapAb,
        new HopperModel(Calibration.of(target)).features(workload, config, sms).predictedUs(),
        () -> HopperGemm.schedule(workload, config));
  }

  private Made mma(Decisions d) {
    int bytes = workload.operands().bytes();
    int warpsM = number(d, "warpsM", steps(1, 8, 1));
    int warpsN = number(d, "warpsN", steps(1, 8, 1));
    int tileM = number(d, "tileM", steps(16, 256, 16));
    int tileN = number(d, "tileN", steps(16, 256, 16));
    int tileK = number(d, "tileK", steps(64 / bytes, 256 / bytes, 64 / bytes));
    int stages = number(d, "stages", steps(2, 8, 1));
    int minBlocks = number(d, "minBlocks", steps(1, 6, 1));
    boolean swapAb = d.choose("swapped");
    AmpereConfig config =
        new AmpereConfig(tileM, tileN, tileK, stages, warpsM, warpsN, minBlocks, order(d), swapAb);
    check(AmpereGemm.problem(workload, config, target));
    return made(
        config.tiles(),
        config.threads(),
        swapAb,
        new AmpereModel(Calibration.of(target)).features(workload, config, sms).predictedUs(),
        () -> AmpereGemm.schedule(workload, config, target));
  }

  private Made simt(Decisions d) {
    int lanesM = number(d, "lanesM", 1, 2, 4, 8, 16, 32);
    int rows = number(d, "rows", steps(1, 16, 1));
    int columns = number(d, "columns", steps(1, 16, 1));
    int warpsM = number(d, "warpsM", steps(1, 8, 1));
    int warpsN = number(d, "warpsN", steps(1, 8, 1));
    int slices = number(d, "slices", 1, 2, 4, 8);
    int tileK = number(d, "tileK", 4, 8, 16, 32, 64, 128);
    int stages = number(d, "stages", steps(2, 8, 1));
    boolean ahead = d.choose("ahead");
    boolean serpentine = d.choose("serpentine");
    int minBlocks = number(d, "minBlocks", steps(1, 16, 1));
    int warpM = rows * lanesM;
    int warpN = columns * 32 / lanesM;
    SimtConfig config =
        new SimtConfig(
            warpM * warpsM,
            warpN * warpsN,
            tileK,
            warpM,
            warpN,
            lanesM,
            slices,
            stages,
            ahead,
            serpentine,
            false,
            minBlocks);
    check(SimtLimits.problem(workload, config, target));
    return made(
        config.tiles(),
        config.threads(),
        false,
        new SimtModel(Calibration.of(target)).features(workload, config, target, sms).predictedUs(),
        () -> SimtGemm.schedule(workload, config, target));
  }

  private Made made(
      GemmTiles tiles,
      int threads,
      boolean swapAb,
      double predictedUs,
      Supplier<ScheduledGemm> schedule) {
    double[] values = {
      engine.ordinal(),
      tiles.m(),
      tiles.n(),
      tiles.k(),
      tiles.stages(),
      threads,
      tiles.minBlocks(),
      tiles.persistent() ? 1 : 0,
      tiles.clusterM() * tiles.clusterN(),
      swapAb ? 1 : 0,
      Math.log(predictedUs)
    };
    return new Made(tiles, new Features(FEATURES, values, predictedUs), schedule);
  }

  private static BlockOrder order(Decisions d) {
    return BlockOrder.parse(
        d.choose(
            "order",
            List.of(
                "row",
                "column",
                "serpentine",
                "morton",
                "hilbert",
                "grouped:2",
                "grouped:3",
                "grouped:4",
                "grouped:6",
                "grouped:8",
                "grouped:12",
                "grouped:16",
                "grouped:32",
                "nested:2",
                "nested:4",
                "nested:8")));
  }

  private static void check(@Nullable String problem) {
    if (problem != null) {
      throw new Rejected(problem.replaceAll("[0-9]+", "#"), problem);
    }
  }

  private static long[] steps(int first, int last, int step) {
    return LongStream.iterate(first, n -> n <= last, n -> n + step).toArray();
  }
}
