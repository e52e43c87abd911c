package dev.warpwright.families.mma;

import static dev.warpwright.families.TileGrid.together;
import static dev.warpwright.families.mma.AmpereNumber.BARRIER;
import static dev.warpwright.families.mma.AmpereNumber.BESIDE;
import static dev.warpwright.families.mma.AmpereNumber.CLOCK;
import static dev.warpwright.families.mma.AmpereNumber.COLLECTED;
import static dev.warpwright.families.mma.AmpereNumber.COMBINED_BYTES;
import static dev.warpwright.families.mma.AmpereNumber.COMBINING;
import static dev.warpwright.families.mma.AmpereNumber.COPY;
import static dev.warpwright.families.mma.AmpereNumber.DRAM_BYTES;
import static dev.warpwright.families.mma.AmpereNumber.FLOAT8;
import static dev.warpwright.families.mma.AmpereNumber.GATHERED_BYTES;
import static dev.warpwright.families.mma.AmpereNumber.GATHERED_WORDS;
import static dev.warpwright.families.mma.AmpereNumber.ISSUED;
import static dev.warpwright.families.mma.AmpereNumber.KEPT;
import static dev.warpwright.families.mma.AmpereNumber.L2_BYTES;
import static dev.warpwright.families.mma.AmpereNumber.LATENCY;
import static dev.warpwright.families.mma.AmpereNumber.ODD_ROWS;
import static dev.warpwright.families.mma.AmpereNumber.PER_CLOCK;
import static dev.warpwright.families.mma.AmpereNumber.SHARED_BYTES;
import static dev.warpwright.families.mma.AmpereNumber.SHARP;
import static dev.warpwright.families.mma.AmpereNumber.SHIFTED;
import static dev.warpwright.families.mma.AmpereNumber.SMALL_COPY;
import static dev.warpwright.families.mma.AmpereNumber.START;
import static dev.warpwright.families.mma.AmpereNumber.STORE;
import static dev.warpwright.families.mma.AmpereNumber.STREAMING;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.TileFeatures;
import dev.warpwright.families.TileGrid;
import dev.warpwright.families.TileTimes;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;

/**
 * What is expected of a product by mma.sync without running it: the tiles in waves, each step of a
 * tile bounded by products, by what warps read from shared memory for them, and by copies, all of
 * which the same warps issue; by L2, DRAM and latency.
 *
 * <p>Times are in microseconds, fitted to 1400 measurements on an H200 of products whose rows no
 * TMA copy takes, or whose operands are MN-major, and of random shapes (docs/benchmarks,
 * 2026-11-26, threads): other devices are told apart by their rate of products only.
 */
public final class AmpereModel {
  private static final int LANES = 32;

  /** Those of an SM. */
  private static final int SCHEDULERS = 4;

  /** Bytes that memory writes at once, and of K that an instruction multiplies. */
  private static final int SECTOR = 32;

  /** The section of calibrations. */
  public static final String SECTION = "mma";

  private final Calibration.Numbers<AmpereNumber> fitted;

  public AmpereModel(Calibration calibration) {
    fitted = calibration.numbers(SECTION, AmpereNumber.class);
  }

  private double at(AmpereNumber number) {
    return fitted.at(number);
  }

  public Features features(GemmWorkload w, AmpereConfig c, int sms) {
    double resident = (double) sms * c.minBlocks();
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
            sms,
            c.blocks() > 0 ? Math.min(c.blocks(), resident) : resident,
            at(KEPT));
    TileGrid.Shares shares = grid.shares(c.division());
    double sharing = grid.sharing(shares.items());
    double steps = shares.waves() * grid.steps();
    Issue parts = issue(w, c, sharing);
    double issued = together(at(ISSUED), parts.math, parts.reading, parts.copying);
    double l2 = grid.stepBytes() * Math.min(shares.items(), grid.slots()) / at(L2_BYTES);
    double dram = (grid.operandBytes() + grid.resultBytes()) / at(DRAM_BYTES);
    double step =
        together(
            at(SHARP),
            issued + at(BARRIER) / sharing + collecting(w, c, sharing),
            l2,
            dram / steps,
            at(LATENCY) / (c.stages() - 1));
    double sums = (double) c.tileM() * c.tileN() / c.threads();
    double combining = combining(c, shares);
    double waves = Math.max(1, Math.ceil(shares.waves()));
    double predicted =
        at(START)
            + at(LATENCY)
            + Math.max(steps * step, dram)
            + at(BESIDE) * Math.min(steps * step, dram)
            + sums * stored(w) * sharing * waves
            + combining;
    return TileFeatures.of(
        grid,
        shares,
        new TileFeatures.Kind(
            c.stages(), c.threads() / (4 * LANES) + 1, c.blocks() > 0, c.swapAb(), false),
        new TileFeatures.Step(combining, parts.math, l2, dram, parts.reading / parts.math),
        sums,
        predicted);
  }

  /** Microseconds of a step in which the SM multiplies, reads shared memory and copies. */
  private record Issue(double math, double reading, double copying) {}

  /**
   * A step of blocks that share an SM.
   *
   * @param sharing how many
   */
  private Issue issue(GemmWorkload w, AmpereConfig c, double sharing) {
    int bytes = w.operands().bytes();
    boolean float8 = bytes == 1 && w.operands().isFloat();
    double math =
        2.0
            * c.tileM()
            * c.tileN()
            * c.tileK()
            * bytes
            / 2
            / at(PER_CLOCK)
            / at(CLOCK)
            * sharing
            * (float8 ? at(FLOAT8) : 1);
    double rows = c.swapAb() ? c.tileN() : c.tileM();
    double columns = c.swapAb() ? c.tileM() : c.tileN();
    double reading =
        (c.warpsN() * rows * gathering(bytes, c.acrossLeft(w.layout()))
                + c.warpsM() * columns * gathering(bytes, c.acrossRight(w.layout())))
            * c.tileK()
            * bytes
            / at(SHARED_BYTES)
            / at(CLOCK)
            * sharing;
    ThreadCopies copies =
        ThreadCopies.of(w, c.tileM(), c.tileN(), c.tileK(), c.threads(), c.vectors());
    double copying =
        (copies.instructions() * at(COPY)
                + copies.small() * at(SMALL_COPY) * (c.vectors() ? at(SHIFTED) : 1))
            * sharing;
    return new Issue(math, reading, copying);
  }

  /**
   * What a tile of a GEMM takes while blocks come and go.
   *
   * @param copying what copies cost of what they do where rows are no multiples of 16 bytes
   */
  public TileTimes tile(GemmWorkload w, AmpereConfig c, double copying) {
    List<Double> steps = new ArrayList<>();
    List<Double> ends = new ArrayList<>();
    for (int sharing = 1; sharing <= c.minBlocks(); sharing++) {
      Issue parts = issue(w, c, sharing);
      double issued = together(at(ISSUED), parts.math, parts.reading, copying * parts.copying);
      steps.add(
          together(
              at(SHARP),
              issued + at(BARRIER) / sharing + collecting(w, c, sharing),
              at(LATENCY) / (c.stages() - 1)));
      ends.add((double) c.tileM() * c.tileN() / c.threads() * stored(w) * sharing);
    }
    return new TileTimes(
        steps, at(LATENCY), false, ends, at(L2_BYTES), at(DRAM_BYTES), 0, at(SHARP));
  }

  /** Microseconds to store an element, two of a row at once if all rows begin alike. */
  private double stored(GemmWorkload w) {
    boolean odd = w.resultColumns() * w.result().bytes() % SECTOR != 0;
    return at(STORE) * (odd ? at(ODD_ROWS) : 1);
  }

  /** Microseconds of a step in which a warp collects operands, and no other takes its turn. */
  private double collecting(GemmWorkload w, AmpereConfig c, double sharing) {
    int bytes = w.operands().bytes();
    if (bytes == 2 || !c.acrossLeft(w.layout()) && !c.acrossRight(w.layout())) {
      return 0;
    }
    double turns = Math.max(1, sharing * c.threads() / (LANES * SCHEDULERS));
    return (double) c.tileK() * bytes / SECTOR * at(COLLECTED) / turns;
  }

  /** How much longer operands take to read that lie across K in words or bytes, one by one. */
  private double gathering(int bytes, boolean across) {
    if (!across || bytes == 2) {
      return 1;
    }
    return bytes == 1 ? at(GATHERED_BYTES) : at(GATHERED_WORDS);
  }

  /** Microseconds that a block spends on writing and reading partial sums. */
  private double combining(AmpereConfig c, TileGrid.Shares shares) {
    double cell = 4.0 * c.tileM() * c.tileN();
    return switch (c.division()) {
      case WorkDivision.Whole() -> 0;
      case WorkDivision.Parts(int parts) ->
          at(COMBINING) + (shares.own() + parts - 1) * cell / at(COMBINED_BYTES);
      case WorkDivision.Stream _ -> at(STREAMING) * shares.divided();
    };
  }
}
