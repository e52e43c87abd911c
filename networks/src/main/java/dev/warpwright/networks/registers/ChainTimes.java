package dev.warpwright.networks.registers;

import static dev.warpwright.networks.registers.ChainNumber.BYTES_PER_CLOCK;
import static dev.warpwright.networks.registers.ChainNumber.CACHED;
import static dev.warpwright.networks.registers.ChainNumber.CALL;
import static dev.warpwright.networks.registers.ChainNumber.CLOCKS;
import static dev.warpwright.networks.registers.ChainNumber.COPIED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.CROWDED;
import static dev.warpwright.networks.registers.ChainNumber.FETCH;
import static dev.warpwright.networks.registers.ChainNumber.LAUNCH;
import static dev.warpwright.networks.registers.ChainNumber.LAYER;
import static dev.warpwright.networks.registers.ChainNumber.LEAST_WGMMA;
import static dev.warpwright.networks.registers.ChainNumber.MMA;
import static dev.warpwright.networks.registers.ChainNumber.MMA_ALONE;
import static dev.warpwright.networks.registers.ChainNumber.PART;
import static dev.warpwright.networks.registers.ChainNumber.READ;
import static dev.warpwright.networks.registers.ChainNumber.REFETCH;
import static dev.warpwright.networks.registers.ChainNumber.REFILL;
import static dev.warpwright.networks.registers.ChainNumber.ROW_OF_32;
import static dev.warpwright.networks.registers.ChainNumber.ROW_OF_64;
import static dev.warpwright.networks.registers.ChainNumber.SHARED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.SLOT;
import static dev.warpwright.networks.registers.ChainNumber.STAGE;
import static dev.warpwright.networks.registers.ChainNumber.START;
import static dev.warpwright.networks.registers.ChainNumber.STREAMED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.TIGHT;
import static dev.warpwright.networks.registers.ChainNumber.WARP_LAYER;
import static dev.warpwright.networks.registers.ChainNumber.WGMMA;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.Calibration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * What a kernel takes that carries rows in registers, told by its sizes.
 *
 * <p>An SM has as many warps, or warpgroups, at work as there are tiles for them, round by round. A
 * round takes as long as what all of them share (issue slots, function units, tensor cores, the
 * paths to shared and to global memory) or as one of them alone, whose layers wait for each other.
 * The first round waits for code, too: loops are unrolled, so each instruction is fetched once, and
 * with one tile for an SM nothing else is left (of 27 kernels, two thirds take 3.7 to 6.4 clocks
 * each). Later ones wait for what the instruction cache does not hold.
 *
 * <p>Numbers were fitted, some by hand, to timed ways of random networks on an H200
 * (docs/decisions/0106-networks-by-their-slots.md, 0117-numbers-of-all-timed-networks.md). To be
 * used by one thread.
 */
public final class ChainTimes {
  /** The section of calibrations. */
  static final String SECTION = "chains";

  private static final int SCHEDULERS = 4;

  /**
   * So many warpgroups read ahead what memory delivers (docs/benchmarks/2026-11-23-networks.md).
   */
  private static final int ENOUGH = 4;

  private static final int WARPS_OF_GROUP = 4;

  /** Instructions around everything, around a product, and around what is waited for. */
  private static final double AROUND = 179;

  private static final double AROUND_PRODUCT = 5.7;
  private static final double AROUND_FLOWING = 7;
  private static final double AROUND_WAIT = 7;

  /** How sharply what takes longest hides the rest: what is shared, rounds, and code. */
  private static final double SHARP = 2.3;

  private static final double SHARPER = 2.46;
  private static final double SHARPEST = 8;

  /** Bytes of K in a product. */
  private static final int STEP_BYTES = 32;

  /** Rows and columns of a warp's product. */
  private static final int MMA_ROWS = 16;

  private static final int MMA_COLUMNS = 8;

  /** Bytes of weights of a warp's load. */
  private static final int LOAD_BYTES = 512;

  private final Calibration.Numbers<ChainNumber> fitted;

  /** Sizes are many, and tiles of few kinds: formulas are counted once for each kind. */
  private final Map<Tile, TileWork> counted = new HashMap<>();

  /**
   * Rows that are carried together.
   *
   * @param group of stages, the same object
   */
  private record Tile(StageGroup group, long rows, int warps, boolean staged) {
    @Override
    public boolean equals(Object o) {
      return o
              instanceof Tile(StageGroup other, long otherRows, int otherWarps, boolean otherStaged)
          && group == other
          && rows == otherRows
          && warps == otherWarps
          && staged == otherStaged;
    }

    @Override
    public int hashCode() {
      return 31 * (31 * System.identityHashCode(group) + (int) rows) + (staged ? warps : -warps);
    }
  }

  /** With what was fitted for a device. */
  public ChainTimes(Calibration calibration) {
    fitted = calibration.numbers(SECTION, ChainNumber.class);
  }

  private double at(ChainNumber number) {
    return fitted.at(number);
  }

  private TileWork work(StageGroup group, long rows, int warps, boolean staged) {
    return counted.computeIfAbsent(
        new Tile(group, rows, warps, staged),
        tile -> TileWork.of(fitted, group, rows, warps, staged));
  }

  private static double tiles(long rows, long ofTile, int sms) {
    return Math.ceilDiv(Math.ceilDiv(rows, ofTile), sms);
  }

  /**
   * Microseconds by warpgroups.
   *
   * @param constants weights that can be packed
   */
  public double micros(
      ChainTiling tiling, StageGroup group, Set<Buffer> constants, int sms, long rows) {
    TileWork work = work(group, RegisterChain.ROWS, WARPS_OF_GROUP, tiling.stagesResults());
    StagedWeights weights = tiling.weights();
    double stay = 0;
    double flow = 0;
    double multiplied = 0;
    double waits = 0;
    double stages = 0;
    double code = work.code() + AROUND;
    for (Matmul product : group.products()) {
      boolean flows = weights.flows(product);
      double copied = copied(product, weights, constants.contains(product.weight()));
      long part = tiling.part(product);
      double parts = (double) product.n() / part;
      double steps = (double) product.k() * product.weight().dtype().bytes() / STEP_BYTES;
      multiplied += steps * parts * Math.max(part / 2.0, at(LEAST_WGMMA)) * at(WGMMA);
      waits += at(LAYER) + (parts - 1) * at(PART);
      code += AROUND_WAIT + steps * parts * AROUND_PRODUCT;
      if (flows) {
        flow += copied;
        long slices = Math.ceilDiv(product.k(), weights.depth(product) * weights.slices());
        code += steps * parts * AROUND_FLOWING + slices * parts * AROUND_WAIT;
        stages += slices * parts;
      } else {
        stay += copied;
      }
    }
    double issued = at(SLOT) * work.issued();
    double called = at(CALL) * work.functions();
    int crowd = tiling.prefetch() ? Math.max(0, tiling.consumers() - ENOUGH) : 0;
    double shared =
        norm(
            SHARPER,
            norm(SHARP, issued, called, multiplied, work.loads()),
            memory(work) * (1 + at(CROWDED) * crowd));
    // Of stages of one slice the products are under way beyond them.
    waits += weights.slices() > 1 ? stages * at(STAGE) : 0;
    double alone = norm(SHARP, issued, called) + multiplied + waits + work.waits();
    // One of the ring's stages is read; the others are on their way, each for as long as it takes.
    double filled = (flow + stages * at(REFILL)) / Math.max(1, weights.stages() - 1);
    double ring = stages > 0 ? Math.max(flow, filled) : 0;
    double tiles = tiles(rows, RegisterChain.ROWS, sms);
    double count = Math.ceil(tiles / tiling.consumers());
    double tight = tiling.isTight(group) ? at(TIGHT) : 1;
    double carried = tight * rounds(tiles, tiling.consumers(), shared, alone, code);
    double read = tiling.prefetch() ? 0 : at(READ) * (count - 1);
    double rounds = norm(SHARPER, carried + read, count * ring);
    double start = at(START) * WARPS_OF_GROUP * tiling.consumers();
    return (at(LAUNCH) + start + stay + rounds) / at(CLOCKS);
  }

  /** Microseconds by warps. */
  public double micros(WarpTiling tiling, StageGroup group, int sms, long rows) {
    TileWork work = work(group, tiling.rows(), 1, tiling.stagesResults());
    double products = 0;
    double loads = 0;
    double stay = 0;
    double read = 0;
    double waits = 0;
    for (Matmul product : group.products()) {
      double bytes = StagedWeights.bytes(product);
      products +=
          (double) tiling.rows()
              / MMA_ROWS
              * product.n()
              / MMA_COLUMNS
              * product.k()
              * product.weight().dtype().bytes()
              / STEP_BYTES;
      loads += bytes / LOAD_BYTES;
      waits += at(WARP_LAYER);
      stay += tiling.stays(product) ? bytes / at(COPIED_BYTES) : 0;
      read += bytes / (tiling.stays(product) ? at(SHARED_BYTES) : at(STREAMED_BYTES));
    }
    double issued = at(SLOT) * (work.issued() + products + loads);
    double called = at(CALL) * work.functions();
    double shared =
        norm(
            SHARPER,
            norm(
                SHARP,
                issued / SCHEDULERS,
                called / SCHEDULERS,
                at(MMA) * products / SCHEDULERS,
                work.loads(),
                read),
            memory(work));
    double alone =
        norm(SHARP, issued, called) + at(MMA_ALONE) * products + read + waits + work.waits();
    double code = work.code() + AROUND + products + loads + AROUND_WAIT * group.products().size();
    double tiles = tiles(rows, tiling.rows(), sms);
    double rounds = rounds(tiles, tiling.warps(), shared, alone, code);
    if (!tiling.prefetch()) {
      rounds += at(READ) * (Math.ceil(tiles / tiling.warps()) - 1);
    }
    // All threads copy weights; more have more under way.
    double copied = stay * (1 + 0.5 / tiling.warps());
    double start = at(START) * tiling.warps();
    return (at(LAUNCH) + start + copied + rounds) / at(CLOCKS);
  }

  private double memory(TileWork work) {
    return work.bytes() / at(BYTES_PER_CLOCK);
  }

  /**
   * Clocks of all rounds, if tiles are read ahead.
   *
   * @param tiles of an SM
   * @param carriers warps or warpgroups
   * @param shared clocks of a tile on what all share
   * @param alone clocks of a tile if there is no other
   * @param code instructions
   */
  private double rounds(double tiles, int carriers, double shared, double alone, double code) {
    double full = Math.floor(tiles / carriers);
    double rest = tiles - full * carriers;
    double whole = round(carriers, shared, alone);
    double last = round(rest, shared, alone);
    double first = norm(SHARPEST, full > 0 ? whole : last, at(FETCH) * code);
    double refetched = at(REFETCH) * Math.max(0, code - at(CACHED));
    double further = 0;
    if (full > 0) {
      further += (full - 1) * norm(SHARPER, whole, refetched);
      further += rest > 0 ? norm(SHARPER, last, refetched) : 0;
    }
    return first + further;
  }

  private static double round(double busy, double shared, double alone) {
    return norm(SHARPER, busy * shared, alone);
  }

  private static double norm(double sharp, double... clocks) {
    double sum = 0;
    for (double each : clocks) {
      sum += Math.pow(each, sharp);
    }
    return Math.pow(sum, 1 / sharp);
  }

  /** Clocks of a weight's copies. */
  private double copied(Matmul product, StagedWeights weights, boolean constant) {
    int bytes = product.weight().dtype().bytes();
    // Panels are as wide as swizzles are, and divide the rows.
    long row =
        Math.min(StagedWeights.WIDE_BYTES, Long.lowestOneBit(weights.depth(product) * bytes));
    double all = StagedWeights.bytes(product);
    if (constant || row >= StagedWeights.WIDE_BYTES) {
      return all / at(COPIED_BYTES);
    }
    return all / row * (row > STEP_BYTES ? at(ROW_OF_64) : at(ROW_OF_32));
  }
}
