package dev.warpwright.families.gemv;

import dev.warpwright.families.GemmSketch;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.KernelFamily;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.TileGrid;
import dev.warpwright.space.Decisions;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of {@link StreamedGemm}: what a thread reads at once, how many threads share a
 * column, and how many are beside each other.
 */
public final class StreamedSketch extends GemmSketch<StreamedConfig> {
  public static final KernelFamily FAMILY =
      new KernelFamily(
          (workload, target) -> workload.k() > 0 && StreamedGemm.operandsProblem(workload) == null,
          StreamedSketch::new);

  /** Bytes that a thread reads at once. */
  private static final int VECTOR = 16;

  /** Registers of a thread beside what it reads and sums. */
  private static final int OTHER_REGISTERS = 24;

  private static final int REGISTER_GRANULE = 8;

  private static final int MOST_BLOCKS = 32;

  /** The section of calibrations. */
  public static final String SECTION = "streamed";

  public StreamedSketch(GemmWorkload workload, GpuTarget target, int sms) {
    super(workload, target, sms);
  }

  @Override
  public String name() {
    return SECTION;
  }

  @Override
  protected @Nullable String problem(StreamedConfig config) {
    return StreamedGemm.problem(workload, config, target);
  }

  @Override
  protected GemmTiles tiles(StreamedConfig c) {
    long step = (long) c.reads() * c.slices() * VECTOR / workload.operands().bytes();
    return GemmTiles.of(workload.m(), c.tileN(), step, c.minBlocks());
  }

  @Override
  protected ScheduledGemm schedule(StreamedConfig config) {
    return StreamedGemm.schedule(workload, config, target);
  }

  @Override
  protected StreamedConfig config(Decisions d) {
    return new StreamedConfig(
        number(d, "columns", 1, 2, 4, 8),
        number(d, "reads", 1, 2, 4, 7, 8),
        number(d, "lanesK", 32, 16, 8),
        number(d, "warpsK", 1, 2, 4, 8),
        number(d, "warpsN", 1, 2, 4, 8, 16),
        number(d, "minBlocks", 1, 2, 3, 4, 6, 8, 12));
  }

  @Override
  protected Features features(StreamedConfig config) {
    return features(config, Calibration.of(target));
  }

  /**
   * What is expected: blocks of an SM run beside each other and wait by themselves, so the longest
   * of memory's time, their waits and their instructions counts.
   *
   * <p>Its numbers were fitted to 603 measurements of four products of one row on an H200: 91 of
   * 100 are within 15 percent.
   */
  @Override
  protected Features features(StreamedConfig c, Calibration calibration) {
    Calibration.Numbers<StreamedNumber> fitted = calibration.numbers(SECTION, StreamedNumber.class);
    double mhz = fitted.at(StreamedNumber.MHZ);
    int bytes = workload.operands().bytes();
    double rows = workload.m();
    double blocks = Math.ceilDiv(workload.n(), (long) c.tileN());
    double own = Math.ceil(blocks / sms);
    double resident = Math.min(own, resident(c));
    double waves = own / resident;
    double step = (double) c.reads() * c.slices() * VECTOR / bytes;
    double steps = Math.max(1, Math.ceil(workload.k() / step));
    double asked = 16.0 * c.columns() * c.reads() * c.threads();
    double memory =
        own * c.tileN() * workload.k() * bytes / (fitted.at(StreamedNumber.DRAM_BYTES) / mhz / sms);
    double l1 = asked * (1 + rows / c.columns()) / fitted.at(StreamedNumber.L1_BYTES);
    double math =
        rows * asked / bytes / (target.fp32PerClock() / 2.0) * (bytes == 8 ? 2 : 1)
            + c.threads() / 32.0 * 10;
    double sums =
        fitted.at(StreamedNumber.PART) * c.slices() * Math.ceil(rows * c.tileN() / c.threads());
    double latency = fitted.at(StreamedNumber.LATENCY);
    double waited = latency + fitted.at(StreamedNumber.EXPOSED) * math;
    double waits = waves * (steps * waited + fitted.at(StreamedNumber.END) + sums);
    double instructions = own * (steps * Math.max(math, l1) + sums);
    double clocks =
        TileGrid.together(fitted.at(StreamedNumber.SHARP), memory, waits, instructions) + latency;
    double predicted = fitted.at(StreamedNumber.LAUNCH) + clocks / mhz;
    double[] values = {
      log(workload.m()),
      log(workload.n()),
      log(workload.k()),
      c.columns(),
      c.reads(),
      c.lanesK(),
      c.warpsK(),
      c.warpsN(),
      c.minBlocks(),
      log(asked),
      waves,
      steps,
      log(math),
      log(l1),
      log(predicted)
    };
    return new Features(
        List.of(
            "logM",
            "logN",
            "logK",
            "columns",
            "reads",
            "lanesK",
            "warpsK",
            "warpsN",
            "minBlocks",
            "asked",
            "waves",
            "steps",
            "math",
            "l1",
            "predicted"),
        values,
        predicted);
  }

  /** Blocks that an SM holds: the compiler takes the registers that a thread needs. */
  private int resident(StreamedConfig c) {
    long needed = 4L * c.columns() * c.reads() + workload.m() * c.columns() + OTHER_REGISTERS;
    long each =
        Math.min(
            GpuTarget.REGISTERS_PER_THREAD,
            Math.ceilDiv(needed, REGISTER_GRANULE) * REGISTER_GRANULE);
    long fit = GpuTarget.REGISTERS_PER_SM / (c.threads() * each);
    return Math.toIntExact(
        Math.clamp(
            Math.max(c.minBlocks(), fit),
            1,
            Math.min(MOST_BLOCKS, target.threadsPerSm() / c.threads())));
  }

  private static double log(double x) {
    return Math.log(x) / Math.log(2);
  }
}
