package dev.warpwright.families.wgmma;

import static dev.warpwright.families.TileFeatures.log;
import static dev.warpwright.families.TileGrid.together;
import static dev.warpwright.families.wgmma.HopperNumber.ALIGNING_TURN;
import static dev.warpwright.families.wgmma.HopperNumber.APART;
import static dev.warpwright.families.wgmma.HopperNumber.APART_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.CLOCK;
import static dev.warpwright.families.wgmma.HopperNumber.CLUSTER;
import static dev.warpwright.families.wgmma.HopperNumber.CLUSTER_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.CLUSTER_LATENCY;
import static dev.warpwright.families.wgmma.HopperNumber.COLLECT;
import static dev.warpwright.families.wgmma.HopperNumber.COMBINING;
import static dev.warpwright.families.wgmma.HopperNumber.COUPLED;
import static dev.warpwright.families.wgmma.HopperNumber.CROWD;
import static dev.warpwright.families.wgmma.HopperNumber.DRAM_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.ENDS;
import static dev.warpwright.families.wgmma.HopperNumber.ENDS_SECTOR;
import static dev.warpwright.families.wgmma.HopperNumber.FAR;
import static dev.warpwright.families.wgmma.HopperNumber.FEW_ROWS;
import static dev.warpwright.families.wgmma.HopperNumber.FILL;
import static dev.warpwright.families.wgmma.HopperNumber.FORGOTTEN;
import static dev.warpwright.families.wgmma.HopperNumber.HELD;
import static dev.warpwright.families.wgmma.HopperNumber.INSIDE_LINE;
import static dev.warpwright.families.wgmma.HopperNumber.INSIDE_SECTOR;
import static dev.warpwright.families.wgmma.HopperNumber.KEPT;
import static dev.warpwright.families.wgmma.HopperNumber.L2_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.LATENCY;
import static dev.warpwright.families.wgmma.HopperNumber.LOOKUP;
import static dev.warpwright.families.wgmma.HopperNumber.NARROW;
import static dev.warpwright.families.wgmma.HopperNumber.OUTSIDE;
import static dev.warpwright.families.wgmma.HopperNumber.PACKED_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.PACKING;
import static dev.warpwright.families.wgmma.HopperNumber.PANEL;
import static dev.warpwright.families.wgmma.HopperNumber.POWERED;
import static dev.warpwright.families.wgmma.HopperNumber.RAGGED;
import static dev.warpwright.families.wgmma.HopperNumber.RECEIVED;
import static dev.warpwright.families.wgmma.HopperNumber.RESTART;
import static dev.warpwright.families.wgmma.HopperNumber.ROW_STORE;
import static dev.warpwright.families.wgmma.HopperNumber.SHARED_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.SHARP;
import static dev.warpwright.families.wgmma.HopperNumber.SPARE_COLUMNS;
import static dev.warpwright.families.wgmma.HopperNumber.SPARE_ROOM;
import static dev.warpwright.families.wgmma.HopperNumber.STAGE;
import static dev.warpwright.families.wgmma.HopperNumber.START;
import static dev.warpwright.families.wgmma.HopperNumber.STORE;
import static dev.warpwright.families.wgmma.HopperNumber.STORE_ROWS;
import static dev.warpwright.families.wgmma.HopperNumber.STRAYED;
import static dev.warpwright.families.wgmma.HopperNumber.STREAMING;
import static dev.warpwright.families.wgmma.HopperNumber.TAKEN_BYTES;
import static dev.warpwright.families.wgmma.HopperNumber.TRANSPOSING_TURN;
import static dev.warpwright.families.wgmma.HopperNumber.UNMASKED;
import static dev.warpwright.families.wgmma.HopperNumber.UNSHARED;
import static dev.warpwright.families.wgmma.HopperNumber.WRITTEN_BYTES;

import dev.warpwright.families.ThreadCopies;
import dev.warpwright.families.TileFeatures;
import dev.warpwright.families.TileGrid;
import dev.warpwright.families.TileTimes;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.lower.gpu.StagedStore;
import dev.warpwright.space.Features;
import dev.warpwright.target.Calibration;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;

/**
 * What is expected of a product on Hopper without running it: the tiles in waves, each step of a
 * tile bounded by the tensor cores, by what an SM takes in, by L2, by its share of DRAM, and by how
 * soon a stage of the ring comes round again; the beginning and the end of a kernel, which nothing
 * overlaps.
 *
 * <p>Times are in microseconds. The constants were fitted to measurements on an H200, which count
 * the more the nearer they are to the fastest of their product; when and to which, its calibration
 * says. They make an order of candidates, not a promise.
 */
public final class HopperModel {
  /** Bytes of a sector of L2. */
  static final int SECTOR = 32;

  /** Bytes of K that an instruction multiplies, and rows. */
  private static final int INSTRUCTION_BYTES = 32;

  private static final int INSTRUCTION_ROWS = 64;

  static final int WARPGROUP = 128;

  /** The section of calibrations. */
  public static final String SECTION = "wgmma";

  private final Calibration.Numbers<HopperNumber> fitted;
  private final HopperCopies copies;

  public HopperModel(Calibration calibration) {
    fitted = calibration.numbers(SECTION, HopperNumber.class);
    copies = new HopperCopies(fitted);
  }

  private double at(HopperNumber number) {
    return fitted.at(number);
  }

  public Features features(GemmWorkload w, HopperConfig c, int sms) {
    TileGrid grid = grid(w, c, sms);
    TileGrid.Shares shares = c.isPaired() ? grid.parts(2) : grid.shares(c.division());
    double cluster = log(c.clusterM() * c.clusterN());
    double sharing = grid.sharing(shares.items());
    double steps = shares.waves() * grid.steps();
    double busy = Math.min(shares.items(), grid.slots());

    double math = math(w, c) * sharing;
    double taken = taken(grid, c);
    double operands = grid.operandBytes();
    double asked = asked(grid, c);
    double l2 = ((asked + outside(grid)) * busy + operands / steps) / at(L2_BYTES);
    double dram =
        (operands + grid.resultBytes() + at(UNSHARED) * grid.readAgain()) / at(DRAM_BYTES);
    // A stage comes round again after its latency, its copy and its use.
    double unmasked = unmasked(c);
    double cycle = cycle(grid, c, operands / (grid.stepBytes() * busy * steps), math / sharing);
    double step =
        together(
            at(SHARP),
            Math.max(math, collected(w, c, math / sharing))
                + unmasked
                + copies.transposing(w, c, sharing),
            together(at(SHARP), taken * sharing, l2),
            dram / steps,
            cycle + unmasked,
            copies.copying(w, c, sharing),
            copies.loading(w, c, sharing));
    if (c.division() instanceof WorkDivision.Stream) {
      step *= at(APART) * (1 + strayed(grid, c));
    }
    double powered = w.flops() / (at(POWERED) * 2 / w.operands().bytes() * sms);
    double combining = combining(c, shares);
    double predicted =
        (c.isOfFewRows() ? at(FEW_ROWS) : 1)
            * (c.minBlocks() > 1 && shares.items() <= sms ? at(SPARE_ROOM) : 1)
            * (at(START)
                + at(LATENCY)
                + at(FAR)
                + (c.blocks() > 0 ? at(LOOKUP) : 0)
                + at(STAGE) * c.stages()
                + at(CLUSTER) * cluster
                + together(at(SHARP), steps * step, dram, powered)
                + at(FILL) * Math.min(math, together(at(SHARP), taken * sharing, l2))
                + apart(grid, c, grid.steps() * step)
                + epilogue(grid, c, sharing) * Math.max(1, shares.waves())
                + (restarts(grid, c, step, math / sharing) + coupled(grid, c))
                    * Math.max(0, shares.waves() - 1)
                + combining);
    return TileFeatures.of(
        grid,
        shares,
        new TileFeatures.Kind(c.stages(), c.consumers(), c.blocks() > 0, c.swapAb(), c.direct()),
        new TileFeatures.Step(combining, math, l2, dram, 0),
        (double) HopperLimits.accumulatorRegisters(w, c),
        predicted);
  }

  /**
   * Microseconds of a warpgroup's step if one operand goes to its registers first, while others
   * multiply.
   *
   * @param math of a step of all warpgroups of a block
   */
  private double collected(GemmWorkload w, HopperConfig c, double math) {
    return c.held()
        ? math / c.consumers() + at(COLLECT) * c.tileK() * w.operands().bytes() / INSTRUCTION_BYTES
        : 0;
  }

  /**
   * How much longer a step takes because blocks that need the same operand are at different places
   * of K, where threads wait for what they transpose.
   */
  private double strayed(TileGrid grid, HopperConfig c) {
    GemmWorkload w = grid.workload();
    double bytes = ((double) w.m() + w.n()) * w.k() * w.operands().bytes();
    return HopperLimits.transposes(w, c)
        ? at(STRAYED) * Math.min(1, bytes / (at(FORGOTTEN) * grid.kept()))
        : 0;
  }

  /**
   * Microseconds by which tiles that blocks share out take longer because of what they read again.
   *
   * @param tile of a tile's steps
   */
  private double apart(TileGrid grid, HopperConfig c, double tile) {
    if (!(c.division() instanceof WorkDivision.Stream(int more))) {
      return 0;
    }
    double waves = grid.divided(more) / grid.slots();
    return Math.max(0, grid.readApart(more) / at(APART_BYTES) - waves * tile);
  }

  private double unmasked(HopperConfig c) {
    return Integer.bitCount(c.stages()) == 1 ? 0 : at(UNMASKED);
  }

  /**
   * Microseconds until a stage comes round again, after its latency, its copy and its use, for each
   * of the stages.
   *
   * @param far the part of what is copied that comes from device memory
   * @param math of a step of one block
   */
  private double cycle(TileGrid grid, HopperConfig c, double far, double math) {
    double latency =
        at(LATENCY)
            + at(FAR) * Math.min(1, far)
            + at(CLUSTER_LATENCY) * log(c.clusterM() * c.clusterN());
    return (latency + taken(grid, c) + at(HELD) * math) / c.stages();
  }

  /** What a tile of a GEMM, or of each block of a cluster, takes while blocks come and go. */
  public TileTimes tile(GemmWorkload w, HopperConfig c, int sms) {
    TileGrid grid = grid(w, c, sms);
    double asked = grid.stepBytes() * grid.shares(c.division()).items() * grid.steps();
    double math = math(w, c);
    double cycle = cycle(grid, c, grid.operandBytes() / asked, math) + unmasked(c);
    double taken = taken(grid, c);
    List<Double> steps = new ArrayList<>();
    List<Double> ends = new ArrayList<>();
    for (int sharing = 1; sharing <= c.minBlocks(); sharing++) {
      steps.add(
          together(
              at(SHARP),
              Math.max(math * sharing, collected(w, c, math))
                  + unmasked(c)
                  + copies.transposing(w, c, sharing),
              taken * sharing,
              cycle,
              copies.copying(w, c, sharing),
              copies.loading(w, c, sharing)));
      ends.add(epilogue(grid, c, sharing) + at(LOOKUP));
    }
    double flops = 2.0 * c.tileM() * c.tileN() * c.tileK() * c.clusterM() * c.clusterN();
    return new TileTimes(
        steps,
        at(LATENCY) + at(FAR),
        true,
        ends,
        at(L2_BYTES),
        at(DRAM_BYTES),
        flops / (at(POWERED) * 2 / w.operands().bytes() * sms),
        at(SHARP));
  }

  private TileGrid grid(GemmWorkload w, HopperConfig c, int sms) {
    double reached = Math.floor(sms * reached(c.clusterM() * c.clusterN()));
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
        c.blocks() > 0 ? Math.min(c.blocks(), slots) : slots,
        at(KEPT));
  }

  /**
   * The part of the SMs that clusters of a size run on: groups of SMs are no multiples of 4 and 8,
   * so some stay idle. On an H200 30 clusters of 4 and 15 of 8 are in one wave, and one more is
   * not.
   */
  private static double reached(int cluster) {
    return cluster <= 2 ? 1 : 120.0 / 132;
  }

  /** Microseconds of a step's instructions: they multiply, and read both operands for it. */
  private double math(GemmWorkload w, HopperConfig c) {
    double rows = Math.max(INSTRUCTION_ROWS, c.swapAb() ? c.tileN() : c.tileM());
    double columns = c.swapAb() ? c.tileM() : c.tileN();
    double instructions =
        rows / INSTRUCTION_ROWS * c.tileK() * w.operands().bytes() / INSTRUCTION_BYTES;
    double read = (INSTRUCTION_ROWS + columns) * INSTRUCTION_BYTES / at(SHARED_BYTES);
    return instructions * Math.max((columns + at(SPARE_COLUMNS)) / 2, read) / at(CLOCK);
  }

  /**
   * Microseconds until operands are packed, in front of all tiles: memory's, or those of threads
   * that each wait for what they have under way.
   *
   * @param bytes of all of them
   * @param aligned how often a thread loads pieces of rows that become aligned
   * @param transposed how often it loads a square that it transposes
   */
  double packing(double bytes, double aligned, double transposed) {
    return at(PACKING)
        + Math.max(
            bytes / at(PACKED_BYTES),
            aligned * at(ALIGNING_TURN) + transposed * at(TRANSPOSING_TURN));
  }

  /** Bytes for which a block asks L2, as if all rows began with a line. */
  private double asked(TileGrid grid, HopperConfig c) {
    GemmWorkload w = grid.workload();
    int bytes = w.operands().bytes();
    return (grid.tileM()
                * grid.insideM()
                / grid.clusterN()
                * slowed(w.lda() * bytes)
                * sectors(panelA(w, c))
            + grid.tileN()
                * grid.insideN()
                / grid.clusterM()
                * slowed(w.ldb() * bytes)
                * sectors(panelB(w, c)))
        * grid.tileK()
        * bytes;
  }

  /** How much more L2 moves for rows of so many bytes. */
  private static double sectors(int panel) {
    return panel == 0 ? 1 : Math.max(1, (double) SECTOR / panel);
  }

  /** Microseconds in which an SM takes a block's tiles of a step. */
  private double taken(TileGrid grid, HopperConfig c) {
    GemmWorkload w = grid.workload();
    return (lines(grid.tileM() * grid.insideM(), w.m(), w, panelA(w, c), c.clusterN())
            + lines(grid.tileN() * grid.insideN(), w.n(), w, panelB(w, c), c.clusterM()))
        * grid.tileK()
        / at(TAKEN_BYTES);
  }

  /**
   * Bytes that an SM might have taken for each row of K instead of what it takes: a row of a panel
   * takes nearly as long as a line, however short it is, and longer where it ends outside of the
   * matrix (bench/tma-rows.cu).
   *
   * @param elements of the row inside of the matrix
   * @param extent of the matrix
   * @param panel bytes of a panel's row; 0 for K-major tiles
   * @param sharing blocks of a cluster that each copy a part of it for all
   */
  private double lines(double elements, long extent, GemmWorkload w, int panel, int sharing) {
    double bytes = elements * w.operands().bytes();
    if (panel == 0) {
      return bytes;
    }
    double rows = bytes / panel * (panel < TileGrid.LINE ? at(NARROW) : 1);
    if (extent * w.operands().bytes() % panel != 0) {
      rows += (at(ENDS) + at(ENDS_SECTOR) * panel / SECTOR) * Math.min(1, elements / extent);
    }
    double received = at(RECEIVED) + (1 - at(RECEIVED)) / sharing;
    return Math.max(bytes, rows * TileGrid.LINE * received);
  }

  private static int panelA(GemmWorkload w, HopperConfig c) {
    return w.layout().transposedA() ? panel(w, c, w.lda(), c.tileM()) : 0;
  }

  private static int panelB(GemmWorkload w, HopperConfig c) {
    return w.layout().transposedB() ? 0 : panel(w, c, w.ldb(), c.tileN());
  }

  /**
   * Bytes of a row that TMA copies at once of an MN-major tile: panels are the widest that its rows
   * are a multiple of. 0 where TMA does not copy it; it does where threads copy the other operand.
   *
   * @param pitch elements from a row of the matrix to the next
   * @param elements of a row
   */
  private static int panel(GemmWorkload w, HopperConfig c, long pitch, int elements) {
    int bytes = w.operands().bytes();
    return pitch * bytes % ThreadCopies.CHUNK == 0 && !HopperLimits.transposes(w, c)
        ? HopperLimits.panelBytes(elements * bytes)
        : 0;
  }

  private double slowed(long row) {
    return row % TileGrid.LINE == 0 ? 1 : row % SECTOR == 0 ? at(INSIDE_LINE) : at(INSIDE_SECTOR);
  }

  /** What TMA copies of rows outside of the matrices come to, in bytes of rows inside. */
  private double outside(TileGrid grid) {
    GemmWorkload w = grid.workload();
    return ThreadCopies.isTma(w)
        ? at(OUTSIDE)
            * (grid.tileM() * (1 - grid.insideM()) + grid.tileN() * (1 - grid.insideN()))
            * grid.tileK()
            * w.operands().bytes()
        : 0;
  }

  /** Whether rows begin inside of the lines of the cache. */
  static boolean isRagged(GemmWorkload w) {
    return (w.lda() | w.ldb()) * w.operands().bytes() % TileGrid.LINE != 0;
  }

  /** Microseconds from the last product of a tile to its result in memory. */
  private double epilogue(TileGrid grid, HopperConfig c, double sharing) {
    GemmWorkload w = grid.workload();
    int bytes = w.result().bytes();
    long columns = w.epilogue().columns(c.tileN());
    double written =
        c.tileM() * grid.insideM() * columns * grid.insideN() * bytes / at(WRITTEN_BYTES) * sharing;
    double each =
        (double) (c.isOfFewRows() ? INSTRUCTION_ROWS : c.tileM())
            * columns
            / (WARPGROUP * c.consumers());
    boolean ragged = HopperLimits.isRaggedResult(w);
    if (c.transposed()) {
      double panels =
          (double) c.tileM() * c.tileN() / (INSTRUCTION_ROWS * INSTRUCTION_ROWS * c.consumers());
      double whole = (double) StagedStore.height(c.tileM()) / INSTRUCTION_ROWS;
      return written + at(PANEL) * panels * (1 + 1 / whole) / 2;
    }
    if (c.swapAb() || c.direct()) {
      boolean pairs = !c.swapAb() && w.ldc() * bytes % 4 == 0;
      double slow = ragged && !c.swapAb() ? at(RAGGED) : 1;
      return written * slow
          + (pairs ? each / 2 : each) * at(c.swapAb() ? STORE : STORE_ROWS) * sharing;
    }
    int row = Math.toIntExact(columns) * bytes;
    int width = HopperLimits.panelBytes(row);
    if (ragged) {
      // A row of a panel begins inside of a sector, and ends inside of another.
      double sectors = 1 + (double) SECTOR / width;
      int lanes = StagedStore.lanes(w.resultColumns(), bytes);
      return written * sectors + each / lanes * at(ROW_STORE) * sharing;
    }
    return written + at(PANEL) * row / width * c.tileM() / (INSTRUCTION_ROWS * c.consumers());
  }

  /**
   * Microseconds by which a wave is longer because blocks come and go: an SM has none for a while,
   * or others on it are done before a new one has begun, read, and written.
   *
   * @param step of all blocks of an SM together
   * @param math of a step of one block
   */
  private double restarts(TileGrid grid, HopperConfig c, double step, double math) {
    if (c.blocks() > 0) {
      return 0;
    }
    if (c.minBlocks() == 1) {
      return at(RESTART);
    }
    double own =
        at(RESTART)
            + at(LATENCY)
            + at(FAR)
            + grid.steps() * Math.max(math, taken(grid, c))
            + epilogue(grid, c, 1)
            + at(LATENCY);
    return Math.max(0, own - grid.steps() * step - epilogue(grid, c, c.minBlocks()));
  }

  /**
   * Microseconds that blocks of a cluster wait for each other's results in a tile: those of fewer
   * steps than there are stages have copies for the next tile under way, for which all blocks have
   * to free a stage.
   */
  private double coupled(TileGrid grid, HopperConfig c) {
    double blocks = c.clusterM() * c.clusterN();
    if (blocks == 1) {
      return 0;
    }
    // Two have only each other to wait for.
    double crowded = Math.min(1, Math.pow(blocks / at(CROWD), 2));
    return at(COUPLED) * crowded * Math.max(0, 1 - (grid.steps() - 1.0) / c.stages());
  }

  /** Microseconds that a block spends on writing and reading partial sums. */
  private double combining(HopperConfig c, TileGrid.Shares shares) {
    double cell = 4.0 * c.tileM() * c.tileN();
    double items = Math.ceil(shares.own() / c.minBlocks());
    return switch (c.division()) {
      case WorkDivision.Whole() -> 0;
      case WorkDivision.Parts _ when c.isPaired() ->
          items * cell / Math.min(c.consumers(), 2) / at(CLUSTER_BYTES);
      case WorkDivision.Parts(int parts) ->
          items * at(COMBINING) + (items + parts - 1) * cell / at(TAKEN_BYTES);
      // A block that ends a tile of many shares reads all of them.
      case WorkDivision.Stream _ ->
          at(STREAMING) * shares.divided()
              + Math.max(0, shares.parts() - 2) * cell / at(TAKEN_BYTES);
    };
  }
}
