package dev.warpwright.families.mma;

import static dev.warpwright.families.TileGrid.together;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.TileFeatures;
import dev.warpwright.families.TileGrid;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Features;
import dev.warpwright.workload.GemmWorkload;

/**
 * What is expected of a product by mma.sync without running it: the tiles in waves, each step of a
 * tile bounded by products, by what warps read from shared memory for them, and by copies, all of
 * which the same warps issue; by the second-level cache, DRAM and latency.
 *
 * <p>Times are in microseconds, fitted to 235 measurements on an H200 of products whose rows no
 * bulk copy takes (docs/benchmarks, 2026-11-22, tuning): other devices are told apart by their rate
 * of products only.
 */
public final class AmpereModel {
  private static final double CLOCK = 1980;

  /** Bytes of shared memory that a multiprocessor reads in a clock. */
  private static final double SHARED_BYTES = 160;

  /** A warp's instruction that copies 4 to 16 bytes for each thread. */
  private static final double COPY = 0.0059;

  /** The same of fewer bytes, which go through registers while products are under way. */
  private static final double SMALL_COPY = 0.003;

  /** How nearly what the same warps issue takes no longer than the longest of it. */
  private static final double ISSUED = 2.8;

  /** How nearly all else does. */
  private static final double SHARP = 6;

  /** A step's barrier and what is around it, which another block may hide. */
  private static final double BARRIER = 0.144;

  private static final double LATENCY = 0.5;

  /** Bytes for which the second-level cache is asked by all in a microsecond. */
  private static final double L2_BYTES = 1.95e7;

  /** Bytes that all take from DRAM in a microsecond. */
  private static final double DRAM_BYTES = 4.6e6;

  /** To store an element from its register. */
  private static final double STORE = 0.041;

  /** To say that a part is written, and to see it. */
  private static final double COMBINING = 2.3;

  /** Bytes of partial sums that a block writes or reads in a microsecond. */
  private static final double COMBINED_BYTES = 6.7e4;

  /** What shares that end inside of tiles cost for each wave that is divided so. */
  private static final double STREAMING = 10.8;

  private static final int LANES = 32;

  private AmpereModel() {}

  public static Features features(
      GemmWorkload w, AmpereConfig c, GpuTarget target, int multiprocessors) {
    double resident = (double) multiprocessors * c.minBlocks();
    TileGrid grid =
        new TileGrid(
            w,
            c.tileM(),
            c.tileN(),
            c.tileK(),
            1,
            1,
            c.order(),
            c.minBlocks(),
            multiprocessors,
            c.blocks() > 0 ? Math.min(c.blocks(), resident) : resident);
    TileGrid.Shares shares = grid.shares(c.division());
    double sharing = grid.sharing(shares.items());
    double steps = shares.waves() * grid.steps();
    int bytes = w.operands().bytes();

    double math =
        2.0 * c.tileM() * c.tileN() * c.tileK() * bytes / 2 / perClock(target) / CLOCK * sharing;
    double rows = c.swapped() ? c.tileN() : c.tileM();
    double columns = c.swapped() ? c.tileM() : c.tileN();
    double reading =
        (c.warpsN() * rows * gathering(bytes, c.acrossLeft(w.layout()))
                + c.warpsM() * columns * gathering(bytes, c.acrossRight(w.layout())))
            * c.tileK()
            * bytes
            / SHARED_BYTES
            / CLOCK
            * sharing;
    ThreadCopies copies = ThreadCopies.of(w, c.tileM(), c.tileN(), c.tileK(), c.threads());
    double copying = (copies.instructions() * COPY + copies.small() * SMALL_COPY) * sharing;
    double issued = together(ISSUED, math, reading, copying);
    double l2 = grid.stepBytes() * Math.min(shares.items(), grid.slots()) / L2_BYTES;
    double dram = (grid.operandBytes() + grid.resultBytes()) / DRAM_BYTES;
    double step =
        together(SHARP, issued + BARRIER / sharing, l2, dram / steps, LATENCY / (c.stages() - 1));
    double sums = (double) c.tileM() * c.tileN() / c.threads();
    double combining = combining(c, shares);
    double predicted =
        LATENCY
            + Math.max(steps * step, dram)
            + sums * STORE * sharing * Math.max(1, Math.ceil(shares.waves()))
            + combining;
    return TileFeatures.of(
        grid,
        shares,
        new TileFeatures.Kind(
            c.stages(), c.threads() / (4 * LANES) + 1, c.blocks() > 0, c.swapped(), false),
        new TileFeatures.Step(combining, math, l2, dram, reading / math),
        sums,
        predicted);
  }

  /** How much longer operands take to read that lie across K in words or bytes, one by one. */
  private static double gathering(int bytes, boolean across) {
    return across && bytes != 2 ? SHARED_BYTES / (LANES * bytes) : 1;
  }

  /** Operations of a multiprocessor in a clock that mma.sync reaches on 16-bit operands. */
  private static double perClock(GpuTarget target) {
    return switch (target.name()) {
      case "sm_90a" -> 2280;
      case "sm_80" -> 2000;
      default -> 1000;
    };
  }

  /** Microseconds that a block spends on writing and reading partial sums. */
  private static double combining(AmpereConfig c, TileGrid.Shares shares) {
    double cell = 4.0 * c.tileM() * c.tileN();
    return switch (c.division()) {
      case WorkDivision.Whole() -> 0;
      case WorkDivision.Parts(int parts) ->
          COMBINING + (shares.own() + parts - 1) * cell / COMBINED_BYTES;
      case WorkDivision.Stream _ -> STREAMING * shares.divided();
    };
  }
}
