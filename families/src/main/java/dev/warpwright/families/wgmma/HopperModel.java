package dev.warpwright.families.wgmma;

import static dev.warpwright.families.TileFeatures.log;
import static dev.warpwright.families.TileGrid.together;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.TileFeatures;
import dev.warpwright.families.TileGrid;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.tune.space.Features;
import dev.warpwright.workload.GemmWorkload;

/**
 * What is expected of a product on Hopper without running it: the tiles in waves, each step of a
 * tile bounded by the tensor cores, by what a multiprocessor takes in, by the second-level cache,
 * by its share of DRAM, and by how soon a stage of the ring comes round again; the beginning and
 * the end of a kernel, which nothing overlaps.
 *
 * <p>Times are in microseconds. The constants were fitted together to 11,000 measurements of 120
 * products on an H200 (docs/benchmarks, 2026-11-22, tuning), which count the more the nearer they
 * are to the fastest of their product; they make an order of candidates, not a promise.
 */
public final class HopperModel {
  /** Clocks in a microsecond that products seem to be issued at. */
  private static final double CLOCK = 1570;

  /** Columns by which an instruction is longer than those it multiplies. */
  private static final double SPARE_COLUMNS = 7.7;

  /** Bytes of shared memory that the operands of instructions are read from in a clock. */
  private static final double SHARED_BYTES = 90;

  /** Operations in a microsecond on 16 bits for which a multiprocessor's share of power lasts. */
  private static final double POWERED = 6.55e6;

  /** Bytes that a multiprocessor takes in a microsecond: 64 in a clock. */
  private static final double TAKEN_BYTES = 1.12e5;

  /** Bytes of whole lines for which the second-level cache is asked by all in a microsecond. */
  private static final double L2_BYTES = 1.7e7;

  /** How much longer that takes for rows that begin inside of lines, and even of their sectors. */
  private static final double INSIDE_LINE = 1.8;

  private static final double INSIDE_SECTOR = 2.4;

  /** How much longer than for a row for one of a tile that lies outside of the matrix. */
  private static final double OUTSIDE = 4.9;

  /** Bytes that all take from DRAM in a microsecond. */
  private static final double DRAM_BYTES = 4.6e6;

  /** From asking for a stage to having it, if it is in the second-level cache. */
  private static final double LATENCY = 0.8;

  /** How much later what comes from DRAM is there. */
  private static final double FAR = 0.5;

  /**
   * How much later it is there for each doubling of a cluster, whose blocks wait for each other.
   */
  private static final double CLUSTER_LATENCY = 0.11;

  /** Times of a step's products in which its stage stays in use. */
  private static final double HELD = 1.37;

  /**
   * How much longer a step takes whose stage is no mask of its number, measured while it was the
   * remainder of a division.
   */
  private static final double UNMASKED = 0.024;

  /** What a cluster costs at its beginning and its end for each doubling. */
  private static final double CLUSTER = 0.47;

  /** To prepare the barriers of a stage. */
  private static final double STAGE = 0.03;

  /** To look up the first tile in the table of work. */
  private static final double LOOKUP = 0.21;

  /** A panel's way through shared memory, one after the other. */
  private static final double PANEL = 0.055;

  /** What a thread needs to store a pair of neighbouring elements, or one that has none. */
  private static final double STORE = 0.031;

  /** Bytes of a result that a multiprocessor writes in a microsecond. */
  private static final double WRITTEN_BYTES = 5.4e4;

  /** To say that a part is written, and to see it. */
  private static final double COMBINING = 2.7;

  /** Bytes that a multiprocessor writes into another's shared memory in a microsecond. */
  private static final double CLUSTER_BYTES = 1.12e4;

  /** What shares that end inside of tiles cost for each wave that is divided so. */
  private static final double STREAMING = 5.8;

  /** How much longer steps take of blocks that are at different steps, and so share little. */
  private static final double APART = 1.086;

  /** How nearly what goes on at the same time takes no longer than the longest of it. */
  private static final double SHARP = 8.4;

  /** A warp's instruction that copies 4 to 16 bytes for each thread. */
  private static final double COPY = 0.0046;

  /** From such a copy to its bytes, and the same for a batch of copies through registers. */
  private static final double COPY_LATENCY = 1.02;

  private static final double BATCH = 0.27;

  /** How long a line that is copied occupies the first-level cache. */
  private static final double FIRST_LEVEL = 0.53;

  /** Steps for which copies are under way, at most; stages that they leave free. */
  private static final int MOST_AHEAD = 5;

  private static final int FREE_STAGES = 2;

  /** Bytes of a first-level cache and shared memory together, and what shared memory may be. */
  private static final int FIRST_LEVEL_KB = 256;

  private static final int[] SHARED_KB = {8, 16, 32, 64, 100, 132, 164, 196, 228};

  /** Bytes of a sector of the second-level cache. */
  static final int SECTOR = 32;

  /** Bytes of K that an instruction multiplies, and rows. */
  private static final int INSTRUCTION_BYTES = 32;

  private static final int INSTRUCTION_ROWS = 64;

  private static final int WARPGROUP = 128;

  private HopperModel() {}

  public static Features features(GemmWorkload w, HopperConfig c, int multiprocessors) {
    TileGrid grid = grid(w, c, multiprocessors);
    TileGrid.Shares shares = c.isPaired() ? grid.parts(2) : grid.shares(c.division());
    double cluster = log(c.clusterM() * c.clusterN());
    double sharing = grid.sharing(shares.items());
    double steps = shares.waves() * grid.steps();
    double busy = Math.min(shares.items(), grid.slots());

    double math = math(w, c) * sharing;
    double taken = grid.stepBytes() / TAKEN_BYTES;
    double operands = grid.operandBytes();
    double asked = asked(grid);
    double l2 = ((asked + outside(grid)) * busy + operands / steps) / L2_BYTES;
    double dram = (operands + grid.resultBytes()) / DRAM_BYTES;
    // A stage comes round again after its latency, its copy and its use.
    double latency =
        LATENCY
            + FAR * Math.min(1, operands / (grid.stepBytes() * busy * steps))
            + CLUSTER_LATENCY * cluster;
    double unmasked = Integer.bitCount(c.stages()) == 1 ? 0 : UNMASKED;
    double cycle = (latency + taken + HELD * math / sharing) / c.stages();
    double step =
        together(
            SHARP,
            math + unmasked,
            together(SHARP, taken * sharing, l2),
            dram / steps,
            cycle + unmasked,
            copying(w, c, sharing));
    if (c.division() instanceof WorkDivision.Stream) {
      step *= APART;
    }
    double powered = w.flops() / (POWERED * 2 / w.operands().bytes() * multiprocessors);
    double combining = combining(c, shares);
    double predicted =
        LATENCY
            + FAR
            + (c.blocks() > 0 ? LOOKUP : 0)
            + STAGE * c.stages()
            + CLUSTER * cluster
            + together(SHARP, steps * step, dram, powered)
            + epilogue(grid, c, sharing) * Math.max(1, shares.waves())
            + combining;
    return TileFeatures.of(
        grid,
        shares,
        new TileFeatures.Kind(c.stages(), c.consumers(), c.blocks() > 0, c.swapped(), c.direct()),
        new TileFeatures.Step(combining, math, l2, dram, 0),
        (double) HopperLimits.sumRegisters(w, c),
        predicted);
  }

  private static TileGrid grid(GemmWorkload w, HopperConfig c, int multiprocessors) {
    double reached = Math.floor(multiprocessors * reached(c.clusterM() * c.clusterN()));
    double slots = reached * c.minBlocks();
    return new TileGrid(
        w,
        c.tileM(),
        c.tileN(),
        c.tileK(),
        c.clusterM(),
        c.clusterN(),
        c.order(),
        c.minBlocks(),
        reached,
        c.blocks() > 0 ? Math.min(c.blocks(), slots) : slots);
  }

  /**
   * The part of the multiprocessors that clusters of a size run on: groups of multiprocessors are
   * no multiples of 4 and 8, so some stay idle. On an H200 30 clusters of 4 and 15 of 8 are in one
   * wave, and one more is not.
   */
  private static double reached(int cluster) {
    return cluster <= 2 ? 1 : 120.0 / 132;
  }

  /** Microseconds of a step's instructions: they multiply, and read both operands for it. */
  private static double math(GemmWorkload w, HopperConfig c) {
    double rows = c.swapped() ? c.tileN() : c.tileM();
    double columns = c.swapped() ? c.tileM() : c.tileN();
    double instructions =
        rows / INSTRUCTION_ROWS * c.tileK() * w.operands().bytes() / INSTRUCTION_BYTES;
    double read = (INSTRUCTION_ROWS + columns) * INSTRUCTION_BYTES / SHARED_BYTES;
    return instructions * Math.max((columns + SPARE_COLUMNS) / 2, read) / CLOCK;
  }

  /** Bytes for which a block asks the second-level cache, as if all rows began with a line. */
  private static double asked(TileGrid grid) {
    GemmWorkload w = grid.workload();
    int bytes = w.operands().bytes();
    return (grid.tileM() * grid.insideM() / grid.clusterN() * slowed(w.pitchOfA() * bytes)
            + grid.tileN() * grid.insideN() / grid.clusterM() * slowed(w.pitchOfB() * bytes))
        * grid.tileK()
        * bytes;
  }

  private static double slowed(long row) {
    return row % TileGrid.LINE == 0 ? 1 : row % SECTOR == 0 ? INSIDE_LINE : INSIDE_SECTOR;
  }

  /** What bulk copies of rows outside of the matrices come to, in bytes of rows inside. */
  private static double outside(TileGrid grid) {
    GemmWorkload w = grid.workload();
    return ThreadCopies.isBulk(w)
        ? OUTSIDE
            * (grid.tileM() * (1 - grid.insideM()) + grid.tileN() * (1 - grid.insideN()))
            * grid.tileK()
            * w.operands().bytes()
        : 0;
  }

  /** Microseconds in which producers' threads copy a step's tiles; 0 where bulk copies do. */
  private static double copying(GemmWorkload w, HopperConfig c, double sharing) {
    if (ThreadCopies.isBulk(w)) {
      return 0;
    }
    ThreadCopies copies = ThreadCopies.of(w, c.tileM(), c.tileN(), c.tileK(), WARPGROUP);
    if (copies.small() > 0) {
      return copies.batches() * BATCH;
    }
    double shared = c.minBlocks() * (HopperLimits.sharedBytes(w, c) + 1024.0) / 1024;
    double left = FIRST_LEVEL_KB - SHARED_KB[SHARED_KB.length - 1];
    for (int kb : SHARED_KB) {
      if (shared <= kb) {
        left = FIRST_LEVEL_KB - kb;
        break;
      }
    }
    int ahead = Math.min(MOST_AHEAD, c.stages() - FREE_STAGES);
    return together(
        SHARP,
        copies.instructions() * COPY * sharing,
        COPY_LATENCY / (ahead + 1),
        copies.lines() * sharing / (left * 1024) * FIRST_LEVEL);
  }

  /** Whether rows begin inside of the lines of the cache. */
  static boolean isRagged(GemmWorkload w) {
    return (w.pitchOfA() | w.pitchOfB()) * w.operands().bytes() % TileGrid.LINE != 0;
  }

  /** Microseconds from the last product of a tile to its result in memory. */
  private static double epilogue(TileGrid grid, HopperConfig c, double sharing) {
    GemmWorkload w = grid.workload();
    int bytes = w.result().bytes();
    long columns = w.epilogue().columns(c.tileN());
    double written =
        c.tileM() * grid.insideM() * columns * grid.insideN() * bytes / WRITTEN_BYTES * sharing;
    boolean chunks = (w.pitchOfC() | w.resultColumns()) * bytes % ThreadCopies.CHUNK == 0;
    if (c.swapped() || c.direct() || !chunks) {
      boolean pairs = !c.swapped() && w.pitchOfC() * bytes % 4 == 0;
      double each = (double) c.tileM() * columns / (WARPGROUP * c.consumers());
      return written + (pairs ? each / 2 : each) * STORE * sharing;
    }
    int row = Math.toIntExact(columns) * bytes;
    int width = Math.min(TileGrid.LINE, Integer.lowestOneBit(row));
    return written + PANEL * row / width * c.tileM() / (INSTRUCTION_ROWS * c.consumers());
  }

  /** Microseconds that a block spends on writing and reading partial sums. */
  private static double combining(HopperConfig c, TileGrid.Shares shares) {
    double cell = 4.0 * c.tileM() * c.tileN();
    double items = Math.ceil(shares.own() / c.minBlocks());
    return switch (c.division()) {
      case WorkDivision.Whole() -> 0;
      case WorkDivision.Parts _ when c.isPaired() ->
          items * cell / Math.min(c.consumers(), 2) / CLUSTER_BYTES;
      case WorkDivision.Parts(int parts) ->
          items * COMBINING + (items + parts - 1) * cell / TAKEN_BYTES;
      case WorkDivision.Stream _ -> STREAMING * shares.divided();
    };
  }
}
