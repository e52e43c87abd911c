package dev.warpwright.networks.registers;

import static dev.warpwright.networks.registers.ChainNumber.BYTES_PER_CLOCK;
import static dev.warpwright.networks.registers.ChainNumber.CACHED;
import static dev.warpwright.networks.registers.ChainNumber.CALL;
import static dev.warpwright.networks.registers.ChainNumber.CLOCKS;
import static dev.warpwright.networks.registers.ChainNumber.COPIED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.CROWDED;
import static dev.warpwright.networks.registers.ChainNumber.EARLY;
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
import static dev.warpwright.networks.registers.ChainNumber.SHARED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.SLOT;
import static dev.warpwright.networks.registers.ChainNumber.STAGE;
import static dev.warpwright.networks.registers.ChainNumber.START;
import static dev.warpwright.networks.registers.ChainNumber.STREAMED_ALONE;
import static dev.warpwright.networks.registers.ChainNumber.STREAMED_BYTES;
import static dev.warpwright.networks.registers.ChainNumber.TIGHT;
import static dev.warpwright.networks.registers.ChainNumber.WARP_LAYER;
import static dev.warpwright.networks.registers.ChainNumber.WGMMA;

import dev.warpwright.ir.Buffer;
import dev.warpwright.model.function.NetworkFunction.Matmul;
import dev.warpwright.networks.registers.WeightRing.Step;
import dev.warpwright.networks.stages.StageGroup;
import dev.warpwright.target.Calibration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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

  /** Rounds after which each takes as long as the one before. */
  private static final double MOST_ROUNDS = 4;

  /** Rows and columns of a warp's product. */
  private static final int MMA_ROWS = 16;

  private static final int MMA_COLUMNS = 8;

  /** Bytes of weights of a warp's load. */
  private static final int LOAD_BYTES = 512;

  private final Calibration.Numbers<ChainNumber> fitted;

  /** Sizes are many, and tiles of few kinds: formulas are counted once for each kind. */
  private final Map<Tile, List<TileWork>> counted = new HashMap<>();

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

  private List<TileWork> layers(StageGroup group, long rows, int warps, boolean staged) {
    return counted.computeIfAbsent(
        new Tile(group, rows, warps, staged),
        tile -> TileWork.layers(fitted, group, rows, warps, staged));
  }

  private static TileWork sum(List<TileWork> layers) {
    return layers.stream().reduce(TileWork.NONE, TileWork::plus);
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
    List<TileWork> layers =
        layers(group, RegisterChain.ROWS, WARPS_OF_GROUP, tiling.stagesResults());
    TileWork work = sum(layers);
    StagedWeights weights = tiling.weights();
    double stay = 0;
    double multiplied = 0;
    for (Matmul product : group.products()) {
      stay += weights.flows(product) ? 0 : copied(product, weights, constants);
      multiplied += multiplied(product, tiling.part(product));
    }
    double issued = at(SLOT) * work.issued();
    double called = at(CALL) * work.functions();
    int crowd = tiling.prefetch() ? Math.max(0, tiling.consumers() - ENOUGH) : 0;
    double shared =
        norm(
            SHARPER,
            norm(SHARP, issued, called, multiplied, work.loads()),
            memory(work) * (1 + at(CROWDED) * crowd));
    List<Step> steps = steps(tiling, group, constants, layers);
    double alone = 0;
    double code = 0;
    for (Step step : steps) {
      alone += step.clocks();
      code += step.code();
    }
    double tiles = tiles(rows, RegisterChain.ROWS, sms);
    Rounds rounds = Rounds.of(tiles, tiling.consumers(), shared, alone);
    WeightRing ring =
        new WeightRing(
            steps, weights.stages(), at(REFILL), stay - early(rows, RegisterChain.ROWS, sms));
    double tight = tiling.isTight(group) ? at(TIGHT) : 1;
    double read = tiling.prefetch() ? 0 : at(READ);
    double carried = carried(ring, rounds, tight / alone, read, code);
    double start = at(START) * WARPS_OF_GROUP * tiling.consumers();
    return (at(LAUNCH) + start + carried) / at(CLOCKS);
  }

  /** What a warpgroup does with a tile: products stage by stage, and what stands behind each. */
  private List<Step> steps(
      ChainTiling tiling, StageGroup group, Set<Buffer> constants, List<TileWork> layers) {
    StagedWeights weights = tiling.weights();
    TileWork ahead = layers.getFirst();
    List<Step> steps = new ArrayList<>();
    steps.add(new Step(0, computed(ahead) + ahead.waits(), ahead.code() + AROUND));
    for (int i = 0; i < group.products().size(); i++) {
      Matmul product = group.products().get(i);
      TileWork behind = layers.get(i + 1);
      boolean flows = weights.flows(product);
      double copied = flows ? copied(product, weights, constants) : 0;
      double multiplied = multiplied(product, tiling.part(product));
      double code = steps(product) * (AROUND_PRODUCT + (flows ? AROUND_FLOWING : 0));
      // Of stages of one slice the products are under way beyond them.
      double wait = flows && weights.slices() > 1 ? at(STAGE) : 0;
      long deep = flows ? weights.depth(product) * weights.slices() : product.k();
      double parts = (double) product.n() / tiling.part(product);
      for (int part = 0; part < parts; part++) {
        for (long k = 0; k < product.k(); k += deep) {
          double share = (double) Math.min(deep, product.k() - k) / product.k();
          steps.add(
              new Step(
                  copied * share / parts,
                  multiplied * share / parts + wait,
                  code * share + AROUND_WAIT));
        }
        double after = behind.waits() + (part == 0 ? at(LAYER) : at(PART));
        steps.add(
            new Step(0, computed(behind) / parts + after, (behind.code() + AROUND_WAIT) / parts));
      }
    }
    return steps;
  }

  /** Steps of K of a product. */
  private static double steps(Matmul product) {
    return (double) product.k() * product.weight().dtype().bytes() / STEP_BYTES;
  }

  /** Clocks of a product of a warpgroup, so many columns at a time. */
  private double multiplied(Matmul product, long part) {
    double parts = (double) product.n() / part;
    return steps(product) * parts * Math.max(part / 2.0, at(LEAST_WGMMA)) * at(WGMMA);
  }

  /** Clocks in which a warp that is alone issues and calls. */
  private double computed(TileWork work) {
    return norm(SHARP, at(SLOT) * work.issued(), at(CALL) * work.functions());
  }

  /**
   * Clocks of all rounds by warpgroups.
   *
   * @param times by how many times a round's clocks a step's grow
   * @param read clocks between rounds, if rows are not read ahead
   * @param code instructions
   */
  private double carried(WeightRing ring, Rounds rounds, double times, double read, double code) {
    double refetched = refetched(code);
    ring.carry(times * rounds.first(), at(FETCH) + refetched / code);
    double like = 0;
    double simulated = Math.min(rounds.full(), MOST_ROUNDS);
    for (int i = 1; i < simulated; i++) {
      double before = ring.clock();
      ring.pass(read);
      ring.carry(times * norm(SHARPER, rounds.whole(), refetched), 0);
      like = ring.clock() - before;
    }
    if (rounds.full() > 0 && rounds.last() > 0) {
      ring.pass(read);
      ring.carry(times * norm(SHARPER, rounds.last(), refetched), 0);
    }
    return ring.clock() + Math.max(0, rounds.full() - simulated) * like;
  }

  /** Clocks in which a round fetches code that the instruction cache does not hold. */
  private double refetched(double code) {
    return at(REFETCH) * Math.max(0, code - at(CACHED));
  }

  /**
   * How long ahead of a launch's begin its weights are asked for: a launch that leaves half of the
   * SMs to the next one lets that copy its weights meanwhile.
   */
  private double early(long rows, long ofTile, int sms) {
    return 2 * Math.ceilDiv(rows, ofTile) <= sms ? at(EARLY) : 0;
  }

  /** Microseconds by warps. */
  public double micros(WarpTiling tiling, StageGroup group, int sms, long rows) {
    TileWork work = sum(layers(group, tiling.rows(), 1, tiling.stagesResults()));
    double products = 0;
    double loads = 0;
    double stay = 0;
    double read = 0;
    double readAlone = 0;
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
      readAlone += bytes / (tiling.stays(product) ? at(SHARED_BYTES) : at(STREAMED_ALONE));
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
        norm(SHARP, issued, called) + at(MMA_ALONE) * products + readAlone + waits + work.waits();
    double code = work.code() + AROUND + products + loads + AROUND_WAIT * group.products().size();
    double tiles = tiles(rows, tiling.rows(), sms);
    double carried = carried(Rounds.of(tiles, tiling.warps(), shared, alone), code);
    if (!tiling.prefetch()) {
      carried += at(READ) * (Math.ceil(tiles / tiling.warps()) - 1);
    }
    // All threads copy weights; more have more under way.
    double copied =
        Math.max(0, stay * (1 + 0.5 / tiling.warps()) - early(rows, tiling.rows(), sms));
    double start = at(START) * tiling.warps();
    return (at(LAUNCH) + start + copied + carried) / at(CLOCKS);
  }

  private double memory(TileWork work) {
    return work.bytes() / at(BYTES_PER_CLOCK);
  }

  /**
   * Rounds of an SM's tiles.
   *
   * @param full how many have a tile for each carrier, a warp or a warpgroup
   * @param whole clocks of such a one, if tiles are read ahead
   * @param last clocks of the one of what is left; 0 if there is none
   */
  private record Rounds(double full, double whole, double last) {
    /**
     * Of so many tiles.
     *
     * @param shared clocks of a tile on what all share
     * @param alone clocks of a tile if there is no other
     */
    static Rounds of(double tiles, int carriers, double shared, double alone) {
      double full = Math.floor(tiles / carriers);
      double rest = tiles - full * carriers;
      double last = rest > 0 ? norm(SHARPER, rest * shared, alone) : 0;
      return new Rounds(full, norm(SHARPER, carriers * shared, alone), last);
    }

    double first() {
      return full > 0 ? whole : last;
    }
  }

  /** Clocks of all rounds by warps, whose tiles are read ahead. */
  private double carried(Rounds rounds, double code) {
    double refetched = refetched(code);
    double first = norm(SHARPEST, rounds.first(), at(FETCH) * code + refetched);
    double further = 0;
    if (rounds.full() > 0) {
      further += (rounds.full() - 1) * norm(SHARPER, rounds.whole(), refetched);
      further += rounds.last() > 0 ? norm(SHARPER, rounds.last(), refetched) : 0;
    }
    return first + further;
  }

  private static double norm(double sharp, double... clocks) {
    double sum = 0;
    for (double each : clocks) {
      sum += Math.pow(each, sharp);
    }
    return Math.pow(sum, 1 / sharp);
  }

  /** Clocks of a weight's copies: rows of a tensor map's box take as long as whole lines. */
  private double copied(Matmul product, StagedWeights weights, Set<Buffer> constants) {
    double bytes = StagedWeights.bytes(product);
    if (constants.contains(product.weight())) {
      return bytes / at(COPIED_BYTES);
    }
    // Panels are as wide as swizzles are, and divide the rows.
    long row = Long.lowestOneBit(weights.depth(product) * product.weight().dtype().bytes());
    return Math.max(1, (double) StagedWeights.WIDE_BYTES / row) * bytes / at(COPIED_BYTES);
  }
}
