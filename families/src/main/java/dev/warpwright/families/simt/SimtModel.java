package dev.warpwright.families.simt;

import static dev.warpwright.families.simt.SimtNumber.AHEAD;
import static dev.warpwright.families.simt.SimtNumber.AHEAD_OF_MANY;
import static dev.warpwright.families.simt.SimtNumber.ALONG_K;
import static dev.warpwright.families.simt.SimtNumber.BARRIER;
import static dev.warpwright.families.simt.SimtNumber.BESIDE;
import static dev.warpwright.families.simt.SimtNumber.COPY_ELEMENT;
import static dev.warpwright.families.simt.SimtNumber.COPY_NARROW;
import static dev.warpwright.families.simt.SimtNumber.COPY_PAIR;
import static dev.warpwright.families.simt.SimtNumber.COPY_SINGLE;
import static dev.warpwright.families.simt.SimtNumber.COPY_VECTOR;
import static dev.warpwright.families.simt.SimtNumber.CROWDING;
import static dev.warpwright.families.simt.SimtNumber.DRAM_BYTES;
import static dev.warpwright.families.simt.SimtNumber.ENOUGH_BYTES;
import static dev.warpwright.families.simt.SimtNumber.ENOUGH_LINES;
import static dev.warpwright.families.simt.SimtNumber.F64_PER_CLOCK;
import static dev.warpwright.families.simt.SimtNumber.FETCH;
import static dev.warpwright.families.simt.SimtNumber.FETCHED_CODE;
import static dev.warpwright.families.simt.SimtNumber.FETCH_APART;
import static dev.warpwright.families.simt.SimtNumber.FLOODED;
import static dev.warpwright.families.simt.SimtNumber.FMA_EFFICIENCY;
import static dev.warpwright.families.simt.SimtNumber.GUARDED;
import static dev.warpwright.families.simt.SimtNumber.KEPT_BYTES;
import static dev.warpwright.families.simt.SimtNumber.L2_BYTES;
import static dev.warpwright.families.simt.SimtNumber.LATENCY;
import static dev.warpwright.families.simt.SimtNumber.LAUNCH;
import static dev.warpwright.families.simt.SimtNumber.MHZ;
import static dev.warpwright.families.simt.SimtNumber.MIXED;
import static dev.warpwright.families.simt.SimtNumber.ONE_SECTOR;
import static dev.warpwright.families.simt.SimtNumber.PART;
import static dev.warpwright.families.simt.SimtNumber.READ;
import static dev.warpwright.families.simt.SimtNumber.READ_BOTH;
import static dev.warpwright.families.simt.SimtNumber.READ_ONE;
import static dev.warpwright.families.simt.SimtNumber.SCATTERED;
import static dev.warpwright.families.simt.SimtNumber.SECTORS_APART;
import static dev.warpwright.families.simt.SimtNumber.SERPENTINE;
import static dev.warpwright.families.simt.SimtNumber.SPREAD;
import static dev.warpwright.families.simt.SimtNumber.SQUEEZED;
import static dev.warpwright.families.simt.SimtNumber.STALL;
import static dev.warpwright.families.simt.SimtNumber.STEP;
import static dev.warpwright.families.simt.SimtNumber.TWO_SECTORS;
import static dev.warpwright.families.simt.SimtNumber.UNEVEN;
import static dev.warpwright.families.simt.SimtNumber.UNEVEN_BOTH;
import static dev.warpwright.families.simt.SimtNumber.WAITED;
import static dev.warpwright.families.simt.SimtNumber.WRITE;

import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.List;

/**
 * What is expected of a product of threads without running it: the blocks in waves, each step
 * bounded by the multiply-adds, by what else is issued, by shared memory, by the way from the L2
 * and by latency; all of it by DRAM.
 *
 * <p>Times are in clocks of an H200 at 1980 MHz, fitted to 6500 measurements (docs/benchmarks,
 * 2026-11-26, threads, and 2026-11-28, unseen shapes), a step's and its barrier's numbers to 1147
 * more (2026-11-29, searches of networks), nearly all of them again to 5600 of 45 products
 * (2026-11-30, f32 of few rows); they make an order of candidates, not a promise.
 */
public final class SimtModel {
  /** The section of calibrations. */
  public static final String SECTION = "simt";

  /** What learnt models are told. */
  private static final List<String> FEATURES =
      List.of(
          "logM",
          "logN",
          "logK",
          "tileM",
          "tileN",
          "tileK",
          "rows",
          "columns",
          "lanesM",
          "threads",
          "slices",
          "stages",
          "ahead",
          "serpentine",
          "alongK",
          "minBlocks",
          "parts",
          "panel",
          "residentWarps",
          "waves",
          "tail",
          "steps",
          "math",
          "issue",
          "shared",
          "l2",
          "dram",
          "predicted");

  /** Bytes of an instruction. */
  private static final int INSTRUCTION = 16;

  /** Bytes of a sector of L2. */
  private static final int SECTOR = 32;

  /**
   * Clocks of an SM to write a part of a sector. Reckoned from one measurement on an H100, not
   * fitted: 14016×4427×8 in f32, whose instructions wrote parts of 20 sectors, took 2.95 times as
   * long as a library that cannot write the result in less than 74 µs, which makes 30 clocks each.
   */
  private static final double PART_OF_SECTOR = 1.5;

  /**
   * Among equals the kernel is taken whose launch bound says how many blocks an SM holds: what
   * compilers give a thread that nothing bounds is a guess. 256×4608×3584 TN had 206 registers for
   * an expected 164, so 4 blocks where 6 would have been one wave, and took 1.4 times as long.
   */
  private static final double GUESSED = 1.005;

  /**
   * Warps that a scheduler issues from by turns; of 64 x 128 tiles two did, of 128 x 64 not four.
   */
  private static final int FAIRLY_SHARED = 2;

  /** Threads of a block among which reading ahead pays. */
  private static final int MANY_THREADS = 256;

  /** Part of what is copied that may be turned at no cost. */
  private static final double FEW_TURNED = 0.05;

  private final Calibration.Numbers<SimtNumber> fitted;

  public SimtModel(Calibration calibration) {
    fitted = calibration.numbers(SECTION, SimtNumber.class);
  }

  private double at(SimtNumber number) {
    return fitted.at(number);
  }

  public Features features(GemmWorkload w, SimtConfig c, GpuTarget target, int sms) {
    double tilesM = Math.ceilDiv(w.m(), (long) c.tileM());
    double tilesN = Math.ceilDiv(w.n(), (long) c.tileN());
    double tiles = tilesM * tilesN * c.parts();
    double steps = Math.max(1, Math.ceilDiv(w.k(), (long) c.tileK() * c.parts()));
    double held = SimtLimits.blocksPerSm(w, c, target);
    double slots = sms * held;
    double own = Math.ceil(tiles / sms);
    double resident = Math.min(own, held);
    Wave wave = wave(w, c, target, resident);
    double whole = Math.floor(own / resident);
    double last = last(w, c, target, own - whole * resident, resident).clocks(steps);
    double dram =
        dramBytes(w, c, slots, tilesM, tilesN)
            / (at(DRAM_BYTES) / at(MHZ))
            * crowded(w, c, resident);
    double work = whole * wave.clocks(steps) + last;
    double predicted = at(LAUNCH) + (mixed(work, dram) + combined(w, c) + at(LATENCY)) / at(MHZ);
    if (c.minBlocks() < resident) {
      predicted *= GUESSED;
    }

    double waves = own / resident;
    return new Features(
        FEATURES,
        new double[] {
          log(w.m()),
          log(w.n()),
          log(w.k()),
          c.tileM(),
          c.tileN(),
          c.tileK(),
          c.rows(),
          c.columns(),
          c.lanesM(),
          c.threads(),
          c.slices(),
          c.stages(),
          c.ahead() ? 1.0 : 0.0,
          c.serpentine() ? 1.0 : 0.0,
          c.alongK() ? 1.0 : 0.0,
          c.minBlocks(),
          c.parts(),
          c.panel(),
          c.threads() / 32.0 * c.minBlocks(),
          waves,
          tiles / (waves * slots),
          steps,
          log(wave.math()),
          log(wave.issue()),
          log(wave.shared()),
          log(wave.l2()),
          log(Math.max(dram, 1)),
          log(predicted)
        },
        predicted);
  }

  /**
   * What blocks that share an SM take, in clocks.
   *
   * @param step of all of them along K
   * @param end behind the last step
   */
  private record Wave(
      double math, double issue, double shared, double l2, double step, double end) {
    double clocks(double steps) {
      return steps * step + end;
    }
  }

  /**
   * The last blocks. They need not be a whole wave, nor take a part of its time. Where blocks share
   * the schedulers fairly, though, those of an SM end at once, and the first SMs to end take a
   * whole wave again while others take none: of 768 blocks, four at a time, 13 of 132 SMs took
   * eight, and 20 four. Where a scheduler has more warps the oldest go first, and blocks end one by
   * one.
   */
  private Wave last(GemmWorkload w, SimtConfig c, GpuTarget target, double left, double resident) {
    if (left == 0) {
      return new Wave(0, 0, 0, 0, 0, 0);
    }
    boolean together = scheduled(c, resident) <= FAIRLY_SHARED;
    return wave(w, c, target, together ? resident : left);
  }

  /** Warps of the scheduler that has most of them; they are dealt out to four. */
  private static double scheduled(SimtConfig c, double resident) {
    return Math.ceil(resident * c.threads() / 32.0 / 4);
  }

  /** So many blocks of an SM, from their first step to their results in memory. */
  private Wave wave(GemmWorkload w, SimtConfig c, GpuTarget target, double resident) {
    int bytes = w.operands().bytes();
    int run = 16 / bytes;
    double warps = c.threads() / 32.0;
    double depth = (double) c.tileK() / c.slices();
    int rows = c.rows();
    int columns = c.columns();
    double reads =
        c.alongK()
            ? (rows + columns) * depth / run
            : (Math.ceil((double) rows / run) + Math.ceil((double) columns / run)) * depth;
    double perClock = w.operands() == DType.F64 ? at(F64_PER_CLOCK) : target.fp32PerClock() / 2.0;
    double efficiency =
        at(FMA_EFFICIENCY)
            * (c.serpentine() && !c.alongK() && c.stages() > 2 ? at(SERPENTINE) : 1)
            * ahead(c)
            * (c.alongK() ? at(ALONG_K) : 1)
            * (1
                - at(UNEVEN) * (uneven(rows) + uneven(columns))
                - at(UNEVEN_BOTH) * uneven(rows) * uneven(columns));
    double scheduled = scheduled(c, resident);
    double math = scheduled * rows * columns * depth * 128 / perClock / efficiency;
    // Vectors along K are several elements' worth of work for each read.
    double exposed = c.alongK() ? 0.5 : 1;
    math *= 1 + exposed * at(STALL) / (scheduled * scheduled);
    // Nothing else is issued while a warp waits for instructions that a loop did not leave behind;
    // warps of other blocks are at other places of it.
    double code = (double) INSTRUCTION * rows * columns * depth;
    double fetched = Math.max(0, 1 - at(FETCHED_CODE) / code);
    math *= 1 + (scheduled <= 1 ? at(FETCH) : warps <= 4 ? at(FETCH_APART) : 0) * fetched;
    double copied = (double) (c.tileM() + c.tileN()) * c.tileK();
    double copies = copies(w, c, run);
    double issue = math + scheduled * (reads + at(STEP)) + resident * copies / 4;
    double shared =
        resident
            * (warps
                    * reads
                    * at(c.lanesM() > 1 && c.lanesN() > 1 || bytes == 8 ? READ_BOTH : READ_ONE)
                + copied / 32 * at(WRITE)
                + singles(w, c, run) / 32 * at(COPY_SINGLE));
    double l2 = resident * copied * bytes / at(L2_BYTES);
    double busy = mixed(mixed(issue, shared), l2);
    // What a scheduler's other warps may hide: reads, the barrier.
    double together = Math.max(1, resident * warps / 4);
    double step = busy + (depth * at(READ) + at(BARRIER)) / together;
    step *= 1 + exposed * at(SPREAD) * log(Math.max(2, warps));
    // What waits in registers crowds out what is multiplied.
    if (c.stages() == 2) {
      step *= 1 + at(CROWDING) * Math.max(0, copied / c.threads() - 8);
    } else if (c.tileK() * bytes > 2 * SECTOR && turned(w, c) > FEW_TURNED * copied) {
      step *= 1 + at(SECTORS_APART);
    }
    step *= 1 + at(SQUEEZED) * Math.max(0, SimtLimits.squeezed(w, c) - 1);
    if (c.stages() == 2 && isGuarded(w, c, run)) {
      step *= 1 + at(GUARDED);
    }
    // Copies are under way for all stages but one, or until the end of a step.
    double latency = at(LATENCY) / (c.stages() - 1);
    step = Math.max(step, latency) + at(WAITED) * Math.min(step, latency);
    double end = 250 + c.sums() * warps * resident * stored(w, c);
    if (c.parts() > 1) {
      end += spread(c) * resident * tileBytes(w, c) / at(L2_BYTES);
    }
    return new Wave(math, issue, shared, l2, step, end);
  }

  /**
   * What reading operands ahead changes: it costs where the next tiles wait in registers, too, and
   * gains where many warps take turns.
   */
  private double ahead(SimtConfig c) {
    if (!c.ahead()) {
      return 1;
    }
    if (c.stages() == 2 && !c.alongK()) {
      return at(AHEAD);
    }
    return c.threads() >= MANY_THREADS ? at(AHEAD_OF_MANY) : 1;
  }

  /** Clocks for which the last block of a tile reads what others have written of it. */
  private double combined(GemmWorkload w, SimtConfig c) {
    return c.parts() == 1
        ? 0
        : at(LATENCY) + c.parts() * (at(PART) + spread(c) * tileBytes(w, c) / at(L2_BYTES));
  }

  /**
   * Sectors that a warp's instruction touches of a tile's elements beside those that they fill. A
   * thread's columns lie apart where operands are vectors along K, so its lanes' make short runs.
   * Partial sums were timed so; since then they lie in the order of threads, which is not timed
   * yet.
   */
  private static double spread(SimtConfig c) {
    return c.alongK() ? Math.max(1, c.lanesM() / 4.0) : 1;
  }

  private static double tileBytes(GemmWorkload w, SimtConfig c) {
    return (double) c.tileM() * c.tileN() * w.operands().bytes();
  }

  /** Clocks of an SM for a warp's instruction that stores an element of each thread. */
  private static double stored(GemmWorkload w, SimtConfig c) {
    if (c.slices() > 1 || c.byRows()) {
      return 10;
    }
    if (!isRagged(w, c)) {
      return Math.max(5, PART_OF_SECTOR * (c.alongK() ? 4 * spread(c) : 1));
    }
    // Neighbouring lanes store neighbours, or what is as far apart as a vector would be.
    int apart = c.alongK() || c.columns() == 1 ? w.result().bytes() : SimtGemm.WIDEST;
    double sectors = c.lanesM() * (1 + (double) c.lanesN() * apart / SECTOR);
    // Short rows share sectors.
    double rows = 1 + (double) c.lanesM() * w.n() * w.result().bytes() / SECTOR;
    return Math.max(5, PART_OF_SECTOR * Math.min(sectors, rows));
  }

  /** Whether a thread that stores its elements as it has them stores no whole vectors. */
  static boolean isRagged(GemmWorkload w, SimtConfig c) {
    return c.slices() == 1 && w.n() * w.result().bytes() % SimtGemm.WIDEST != 0;
  }

  /** 1 for accumulators of a thread whose side is no power of two. */
  private static double uneven(int side) {
    return Integer.bitCount(side) == 1 ? 0 : 1;
  }

  /** What takes two things that others hide in part. */
  private double mixed(double a, double b) {
    return Math.max(a, b) + at(MIXED) * Math.min(a, b);
  }

  /** Elements that an access of A may take, as rows begin. */
  private static int lanesA(GemmWorkload w, int run) {
    return (int) Long.lowestOneBit((w.layout().transposedA() ? w.m() : w.k()) | run);
  }

  /** The same of B. */
  private static int lanesB(GemmWorkload w, int run) {
    return (int) Long.lowestOneBit((w.layout().transposedB() ? w.k() : w.n()) | run);
  }

  /** Whether some threads have nothing to copy when others still have. */
  private static boolean isGuarded(GemmWorkload w, SimtConfig c, int run) {
    return c.tileM() * c.tileK() / lanesA(w, run) % c.threads() != 0
        || c.tileN() * c.tileK() / lanesB(w, run) % c.threads() != 0;
  }

  /** Instructions of all warps of a block that bring the tiles of a step. */
  private double copies(GemmWorkload w, SimtConfig c, int run) {
    double a = (double) c.tileM() * c.tileK();
    double b = (double) c.tileN() * c.tileK();
    return copies(c, a, SimtLimits.turnsA(w, c), lanesA(w, run), run)
        + copies(c, b, SimtLimits.turnsB(w, c), lanesB(w, run), run);
  }

  /**
   * Elements of a step that are copied one by one, not through registers: from places apart where
   * they are turned.
   */
  private double singles(GemmWorkload w, SimtConfig c, int run) {
    return c.stages() == 2
        ? 0
        : c.tileK()
            * (c.tileM() * single(SimtLimits.turnsA(w, c), lanesA(w, run))
                + c.tileN() * single(SimtLimits.turnsB(w, c), lanesB(w, run)));
  }

  /** Elements of a step that are turned. */
  private static double turned(GemmWorkload w, SimtConfig c) {
    return c.tileK()
        * ((SimtLimits.turnsA(w, c) ? c.tileM() : 0.0) + (SimtLimits.turnsB(w, c) ? c.tileN() : 0));
  }

  private double single(boolean turned, int lanes) {
    if (turned) {
      return 1;
    }
    return lanes == 1 ? at(BESIDE) : 0;
  }

  /**
   * The same of one tile.
   *
   * @param lanes elements that an access may take, as rows begin
   * @param run elements of the widest access
   */
  private double copies(SimtConfig c, double elements, boolean turned, int lanes, int run) {
    if (!turned) {
      double narrow = 1;
      if (lanes == 1 && c.stages() == 2) {
        narrow = at(COPY_NARROW);
      } else if (lanes > 1 && lanes < run && c.stages() > 2) {
        narrow = at(COPY_PAIR);
      }
      return elements / lanes / 32 * at(COPY_VECTOR) * narrow;
    }
    // What is turned on its way is stored element by element, or copied so.
    return c.stages() > 2
        ? elements / 32 * at(COPY_ELEMENT)
        : elements / 32 * (1 + 1.0 / lanes) * at(COPY_VECTOR) / 2;
  }

  /**
   * How much longer DRAM takes where more is on its way than it takes to keep it busy, from ever
   * more places: what asks for parts of lines asks for each line several times.
   */
  private double crowded(GemmWorkload w, SimtConfig c, double resident) {
    double tile = (double) (c.tileM() + c.tileN()) * c.tileK() * w.operands().bytes();
    double more = Math.max(0, resident * (c.stages() - 1) * tile / at(ENOUGH_BYTES) - 1);
    double rows = turned(w, c) / c.tileK();
    double lines = c.stages() > 2 ? 0 : Math.max(0, resident * rows / at(ENOUGH_LINES) - 1);
    return 1 + at(FLOODED) * more + at(SCATTERED) * lines;
  }

  /** Blocks that run together share what they read. */
  private double dramBytes(
      GemmWorkload w, SimtConfig c, double slots, double tilesM, double tilesN) {
    int bytes = w.operands().bytes();
    double a = (double) w.m() * w.k() * bytes;
    double b = (double) w.n() * w.k() * bytes;
    // A wave covers a panel's rows, or more than one panel.
    double panels = Math.max(1, Math.floor(slots / (tilesN * c.panel())));
    double rows = Math.clamp(panels * c.panel(), 1, tilesM);
    double result = (double) w.m() * w.n() * w.result().bytes();
    double partial = c.parts() * (double) w.m() * w.n() * bytes;
    if (c.parts() > 1 && partial > at(KEPT_BYTES) / 2) {
      result += 2 * partial;
    }
    double readA = a * (w.layout().transposedA() ? 1 : sectors(c.tileK() * bytes));
    double readB = b * (w.layout().transposedB() ? sectors(c.tileK() * bytes) : 1);
    if ((a + b) / c.parts() <= at(KEPT_BYTES)) {
      return readA + readB + result;
    }
    double timesA =
        a * rows / tilesM <= at(KEPT_BYTES) / 2 ? 1 : Math.max(1, tilesN * rows / slots);
    return readA * timesA + result + readB * Math.max(1, tilesM / rows);
  }

  /** How much longer memory takes for what is read in such runs, a step of K at a time. */
  private double sectors(int run) {
    if (run <= SECTOR) {
      return at(ONE_SECTOR);
    }
    return run <= 2 * SECTOR ? at(TWO_SECTORS) : 1;
  }

  private static double log(double x) {
    return Math.log(x) / Math.log(2);
  }
}
