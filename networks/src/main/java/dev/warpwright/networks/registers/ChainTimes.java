package dev.warpwright.networks.registers;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.stages.StageGroup;
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
 * <p>Constants that are none of a data sheet were fitted, some by hand, to timed ways of random
 * networks on an H200 (docs/decisions/0106-networks-by-their-slots.md).
 */
public final class ChainTimes {
  /** In a microsecond. */
  private static final double CLOCKS = 1755;

  private static final double LAUNCH = 1.6 * CLOCKS;

  /** Until a warp has begun. */
  private static final double START = 22;

  /** Of an issue slot: some stay empty, for operands are not there. */
  private static final double SLOT = 1.774;

  /** Of a call, for a warp: four lanes of a scheduler compute functions. */
  private static final double CALL = 8;

  private static final int SCHEDULERS = 4;
  private static final int WARPS_OF_GROUP = 4;

  /** Of memory, for each SM: 4.8 TB/s, 132 of them, 1.7 GHz. */
  private static final double BYTES_PER_CLOCK = 21;

  /** Bytes that the copy engine takes in, in a clock: by linear copies, and whole lines. */
  private static final double COPIED_BYTES = 47.4;

  /** A tensor map's box takes that for each row of 32 bytes, and of 64. */
  private static final double ROW_OF_32 = 15;

  private static final double ROW_OF_64 = 7.4;

  /** Of a product, whose columns take half a clock each otherwise: 12 × 32 takes 43.7 µs. */
  private static final double LEAST_PRODUCT = 25;

  /** What products of warpgroups take beyond that. */
  private static final double PRODUCTS = 1.06;

  /** Of m16n8k16 on a scheduler's tensor core, by full ones and by one warp alone. */
  private static final double MMA = 5.6;

  private static final double MMA_ALONE = 4.7;

  /** Bytes of weights of a warp's products: of shared memory, and by way of L1 and L2. */
  private static final double SHARED_BYTES = 160;

  private static final double STREAMED_BYTES = 67.8;

  /** From a layer's last product to the next one's first. */
  private static final double LAYER = 123;

  private static final double WARP_LAYER = 20;

  /** From a part of a layer's columns to the next one's. */
  private static final double PART = 34;

  /** From a tile's end to the next one's rows, if they are not read ahead. */
  private static final double READ = 618;

  /** Of an instruction that is not in the cache: for the first time, and each further time. */
  private static final double FETCH = 2.5;

  private static final double REFETCH = 6;

  /** Instructions of 16 bytes that stay. */
  private static final double CACHED = 3990;

  /** Instructions around everything, around a product, and around what is waited for. */
  private static final double AROUND = 179;

  private static final double AROUND_PRODUCT = 5.7;
  private static final double AROUND_FLOWING = 7;
  private static final double AROUND_WAIT = 7;

  /** How sharply what takes longest hides the rest: what is shared, rounds, and code. */
  private static final double SHARP = 2.06;

  private static final double SHARPER = 4;
  private static final double SHARPEST = 8;

  /** Bytes of K in a product. */
  private static final int STEP_BYTES = 32;

  /** Rows and columns of a warp's product. */
  private static final int MMA_ROWS = 16;

  private static final int MMA_COLUMNS = 8;

  /** Bytes of weights of a warp's load. */
  private static final int LOAD_BYTES = 512;

  private final double tiles;
  private final double carriers;
  private final boolean ahead;

  private ChainTimes(double tiles, int carriers, boolean ahead) {
    this.tiles = tiles;
    this.carriers = carriers;
    this.ahead = ahead;
  }

  private static double tiles(long rows, long ofTile, int sms) {
    return Math.ceilDiv(Math.ceilDiv(rows, ofTile), sms);
  }

  /**
   * Microseconds by warpgroups.
   *
   * @param constants weights that can be packed
   */
  public static double micros(
      ChainTiling tiling, StageGroup group, Set<Buffer> constants, int sms, long rows) {
    TileWork work = TileWork.of(group, RegisterChain.ROWS, WARPS_OF_GROUP);
    StagedWeights weights = tiling.weights();
    double stay = 0;
    double flow = 0;
    double multiplied = 0;
    double waits = 0;
    double code = work.code() + AROUND;
    for (Matmul product : group.products()) {
      boolean flows = weights.flows(product);
      double copied = copied(product, weights, constants.contains(product.weight()));
      long part = ColumnParts.part(product.n(), tiling.columns());
      double parts = (double) product.n() / part;
      double steps = (double) product.k() * product.weight().dtype().bytes() / STEP_BYTES;
      multiplied += steps * parts * Math.max(part / 2.0, LEAST_PRODUCT) * PRODUCTS;
      waits += LAYER + (parts - 1) * PART;
      code += AROUND_WAIT + steps * parts * AROUND_PRODUCT;
      if (flows) {
        flow += copied;
        long slices = Math.ceilDiv(product.k(), weights.depth(product) * weights.slices());
        code += steps * parts * AROUND_FLOWING + slices * parts * AROUND_WAIT;
      } else {
        stay += copied;
      }
    }
    double issued = SLOT * work.issued();
    double called = CALL * work.functions();
    double shared =
        norm(SHARPER, norm(SHARP, issued, called, multiplied, work.loads()), memory(work));
    double alone = norm(SHARP, issued, called) + multiplied + waits;
    ChainTimes times =
        new ChainTimes(tiles(rows, RegisterChain.ROWS, sms), tiling.consumers(), tiling.prefetch());
    double rounds = norm(SHARPER, times.rounds(shared, alone, code), times.count() * flow);
    double start = START * WARPS_OF_GROUP * tiling.consumers();
    return (LAUNCH + start + stay + rounds) / CLOCKS;
  }

  /** Microseconds by warps. */
  public static double micros(WarpTiling tiling, StageGroup group, int sms, long rows) {
    TileWork work = TileWork.of(group, tiling.rows(), 1);
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
      waits += WARP_LAYER;
      stay += tiling.stays(product) ? bytes / COPIED_BYTES : 0;
      read += bytes / (tiling.stays(product) ? SHARED_BYTES : STREAMED_BYTES);
    }
    double issued = SLOT * (work.issued() + products + loads);
    double called = CALL * work.functions();
    double shared =
        norm(
            SHARPER,
            norm(
                SHARP,
                issued / SCHEDULERS,
                called / SCHEDULERS,
                MMA * products / SCHEDULERS,
                work.loads(),
                read),
            memory(work));
    double alone = norm(SHARP, issued, called) + MMA_ALONE * products + read + waits;
    double code = work.code() + AROUND + products + loads + AROUND_WAIT * group.products().size();
    ChainTimes times =
        new ChainTimes(tiles(rows, tiling.rows(), sms), tiling.warps(), tiling.prefetch());
    // All threads copy weights; more have more under way.
    double copied = stay * (1 + 0.5 / tiling.warps());
    double start = START * tiling.warps();
    return (LAUNCH + start + copied + times.rounds(shared, alone, code)) / CLOCKS;
  }

  private static double memory(TileWork work) {
    return work.bytes() / BYTES_PER_CLOCK;
  }

  private double count() {
    return Math.ceil(tiles / carriers);
  }

  /**
   * Clocks of all rounds.
   *
   * @param shared clocks of a tile on what all share
   * @param alone clocks of a tile if there is no other
   * @param code instructions
   */
  private double rounds(double shared, double alone, double code) {
    double full = Math.floor(tiles / carriers);
    double rest = tiles - full * carriers;
    double whole = round(carriers, shared, alone);
    double last = round(rest, shared, alone);
    double first = norm(SHARPEST, full > 0 ? whole : last, FETCH * code);
    double refetched = REFETCH * Math.max(0, code - CACHED);
    double further = 0;
    if (full > 0) {
      further += (full - 1) * norm(SHARPER, whole, refetched);
      further += rest > 0 ? norm(SHARPER, last, refetched) : 0;
    }
    return first + further + (ahead ? 0 : READ * (count() - 1));
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
  private static double copied(Matmul product, StagedWeights weights, boolean constant) {
    int bytes = product.weight().dtype().bytes();
    // Panels are as wide as swizzles are, and divide the rows.
    long row =
        Math.min(StagedWeights.WIDE_BYTES, Long.lowestOneBit(weights.depth(product) * bytes));
    double all = StagedWeights.bytes(product);
    if (constant || row >= StagedWeights.WIDE_BYTES) {
      return all / COPIED_BYTES;
    }
    return all / row * (row > STEP_BYTES ? ROW_OF_64 : ROW_OF_32);
  }
}
