package dev.warpwright.families.simt;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of {@link SimtGemm}: what a thread computes, then how many threads and warps are
 * beside each other, then the depth of a step and of the pipeline.
 */
public final class SimtSketch extends GemmSketch<SimtConfig> {
  public static final KernelFamily FAMILY =
      new KernelFamily(
          (workload, target) -> workload.k() > 0 && SimtLimits.operandsProblem(workload) == null,
          SimtSketch::new);

  /**
   * Products of f32 that are added one after the other before rounding has cost too much: the error
   * grows as the root of their number, and at 28,000 it is past what verification lets pass.
   */
  private static final long LONGEST_CHAIN = 16_384;

  /** Elements of a result from which on no thread has only one or two in a row, or four. */
  private static final long MEDIUM = 1 << 18;

  private static final long LARGE = 1 << 21;

  /** Waves of blocks beyond which a tile need not be shared: the last one is small beside them. */
  private static final long MOST_WAVES = 24;

  /** Steps of a part, below which its beginning and its end cost more than they save. */
  private static final int LEAST_STEPS = 8;

  private static final long[] ACROSS = {1, 2, 4, 8, 12, 16};

  /** Rows or columns of a result of few tiles. */
  private static final long SHORT = 320;

  private static final long[] PARTS = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48};

  /** Waves that parts of tiles may fill exactly. */
  private static final long FILLED_WAVES = 4;

  private final SimtModel model;

  public SimtSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
    model = new SimtModel(Calibration.of(target));
  }

  @Override
  public String name() {
    return "simt";
  }

  @Override
  protected GemmTiles tiles(SimtConfig c) {
    return c.tiles();
  }

  @Override
  protected Features features(SimtConfig config) {
    return model.features(workload, config, target, sms);
  }

  @Override
  protected Features features(SimtConfig config, Calibration calibration) {
    return new SimtModel(calibration).features(workload, config, target, sms);
  }

  @Override
  protected ScheduledGemm schedule(SimtConfig config) {
    return SimtGemm.schedule(workload, config, target);
  }

  @Override
  protected SimtConfig config(Decisions d) {
    boolean alongK = SimtLimits.canLieAlongK(workload) && d.choose("alongK");
    // Single elements of a row or column are read along K, groups of them across.
    int rows = number(d, "rows", upTo(workload.m(), lengths(alongK, workload.m())));
    int lanesM = number(d, "lanesM", upTo(Math.ceilDiv(workload.m(), rows), 1, 2, 4, 8, 16));
    int warpM = rows * lanesM;
    int warpsM = number(d, "warpsM", upTo(Math.ceilDiv(workload.m(), warpM), 1, 2, 4, 8));
    int columns = number(d, "columns", upTo(workload.n(), lengths(alongK, workload.n())));
    int warpN = columns * 32 / lanesM;
    int warpsN = number(d, "warpsN", upTo(Math.ceilDiv(workload.n(), warpN), 1, 2, 4, 8));
    // Small tiles leave warps for parts of the depth.
    int slices =
        number(
            d,
            "slices",
            fitting(o -> rows * columns % o == 0 && o <= 32 / warpsM / warpsN, 1, 2, 4, 8, 16));
    int tileK = number(d, "tileK", upTo(Math.max(8, workload.k()), 8, 16, 32, 64, 128));
    boolean ahead = tileK / slices % 2 == 0 && d.choose("ahead");
    boolean serpentine = rows > 1 && columns > 1 && d.choose("serpentine");
    SimtConfig direct =
        new SimtConfig(
            warpM * warpsM,
            warpN * warpsN,
            tileK,
            warpM,
            warpN,
            lanesM,
            slices,
            2,
            ahead,
            serpentine,
            alongK,
            1);
    SimtConfig least = isByRows(d, direct) ? direct.storedByRows() : direct;
    int stages = number(d, "stages", fitting(o -> fits(least.with(o, 1)), 2, 3, 4, 5, 6));
    int threads = least.threads();
    int minBlocks =
        number(
            d,
            "minBlocks",
            fitting(
                o -> (o * threads >= 128 || o >= 4) && fits(least.with(stages, o)),
                1,
                2,
                3,
                4,
                6,
                8,
                12,
                16));
    return shared(d, least.with(stages, minBlocks));
  }

  /** Whether results of which a thread has neighbours, but no whole vectors, are stored by rows. */
  private boolean isByRows(Decisions d, SimtConfig config) {
    // Records that do not say it are of stores from registers.
    return SimtModel.isRagged(workload, config)
        && fits(config.storedByRows())
        && d.choose("store", List.of("direct", "rows")).equals("rows");
  }

  /** How blocks share tiles, and in which order they take them. */
  private SimtConfig shared(Decisions d, SimtConfig whole) {
    long rows = Math.ceilDiv(workload.m(), (long) whole.tileM());
    long tiles = rows * Math.ceilDiv(workload.n(), (long) whole.tileN());
    long steps = Math.ceilDiv(workload.k(), (long) whole.tileK());
    long atOnce = (long) sms * whole.minBlocks();
    int parts =
        number(
            d,
            "parts",
            fitting(
                o ->
                    !isTooLong(whole.shared(o, 1))
                        && (o == 1
                            || tiles * o <= MOST_WAVES * atOnce
                                && steps >= (long) LEAST_STEPS * o
                                && fits(whole.shared(o, 1))),
                partsOf(tiles, atOnce)));
    int panel =
        number(
            d,
            "panel",
            fitting(o -> o == 1 || rows % o == 0 && tiles > atOnce, 1, 2, 4, 8, 16, 32, 64));
    return whole.shared(parts, panel);
  }

  /** Elements that a thread may have along a side of the result. */
  private long[] lengths(boolean alongK, long extent) {
    LongStream usual = LongStream.of(alongK ? new long[] {1, 2, 4, 7, 8, 14, 16} : ACROSS);
    // Of a short side little must be beside the result.
    LongStream odd = LongStream.of(!alongK && extent <= SHORT ? new long[] {20, 28} : new long[0]);
    return LongStream.concat(usual, odd).filter(length -> length >= shortest()).toArray();
  }

  /** Usual numbers of parts, and those with which whole waves are nearly full. */
  private static long[] partsOf(long tiles, long atOnce) {
    return LongStream.concat(
            LongStream.of(PARTS),
            LongStream.rangeClosed(1, FILLED_WAVES).map(w -> w * atOnce / tiles))
        .filter(parts -> parts >= 1 && parts <= PARTS[PARTS.length - 1])
        .distinct()
        .sorted()
        .toArray();
  }

  private boolean fits(SimtConfig config) {
    return SimtLimits.problem(workload, config, target) == null;
  }

  @Override
  protected @Nullable String problem(SimtConfig config) {
    return isTooLong(config)
        ? String.format(Locale.ROOT, "a chain of %d sums loses too much", chain(config))
        : SimtLimits.problem(workload, config, target);
  }

  private long chain(SimtConfig config) {
    return Math.ceilDiv(workload.k(), (long) config.slices() * config.parts());
  }

  private boolean isTooLong(SimtConfig config) {
    return workload.operands() == DType.F32 && chain(config) > LONGEST_CHAIN;
  }

  /** Of a large result each thread has many elements, whatever the tile. */
  private int shortest() {
    long elements = workload.m() * workload.n();
    if (Math.min(workload.m(), workload.n()) < 16 || elements < MEDIUM) {
      return 1;
    }
    return elements < LARGE ? 4 : 7;
  }

  /** Those of the options that are possible; the first if none is. */
  private static long[] fitting(IntPredicate possible, long... options) {
    long[] left = LongStream.of(options).filter(o -> possible.test((int) o)).toArray();
    return left.length == 0 ? new long[] {options[0]} : left;
  }

  /** Numbers less than twice what there is. */
  private static long[] upTo(long most, long... options) {
    return LongStream.of(options).filter(o -> o == options[0] || o < 2 * most).toArray();
  }
}
