package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.HopperConfig;
import dev.warpwright.families.HopperLimits;
import dev.warpwright.ir.BlockOrder;
import dev.warpwright.ir.WorkDivision;
import dev.warpwright.tune.space.Features;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is expected of a product on Hopper without running it: the tiles in waves, each step of a
 * tile bounded by tensor cores, by the way from the second-level cache and by its share of DRAM;
 * the beginning and the end of a kernel, which nothing overlaps.
 *
 * <p>The constants were fitted to 2000 measurements on an H200 (docs/benchmarks, 2026-11-20), so
 * that the candidates expected to be fastest are; they make an order of candidates, not a promise.
 */
final class HopperModel {
  /** Operations of a multiprocessor in a microsecond, with wide instructions. */
  private static final double OPS = 5.0e6;

  /** An instruction of so many columns takes twice the time of its operations. */
  private static final double SPARE_COLUMNS = 10.3;

  /** What one warpgroup alone reaches of the rate. */
  private static final double ALONE = 0.93;

  /** Bytes that a multiprocessor takes from the second-level cache in a microsecond. */
  private static final double L2_BYTES = 1.08e5;

  /** Bytes that all take from DRAM in a microsecond. */
  private static final double DRAM_BYTES = 4.6e6;

  /** Bytes that stay in the second-level cache while others pass. */
  private static final double L2_SIZE = 2.15e7;

  private static final double LAUNCH = 3;

  /** From asking for a stage to having it, in microseconds. */
  private static final double LATENCY = 1.23;

  /** Times of a step in which a stage is in use: one more product is under way than computed. */
  private static final double HELD = 1.94;

  private static final double EPILOGUE = 3;

  /** How much longer the rest takes where sums are stored as they lie in registers. */
  private static final double DIRECT = 4;

  /** What of an epilogue the next tile of a block, or another block, does not hide. */
  private static final double EXPOSED = 0.78;

  /** What doubling a cluster costs. */
  private static final double CLUSTER = 1.65;

  /** Bytes of a sector of the second-level cache. */
  static final int SECTOR = 32;

  /** Bytes whose multiples rows have to be for bulk copies. */
  static final int CHUNK = 16;

  /** How much longer a copy takes whose rows begin in the middle of a sector. */
  private static final double RAGGED = 1.2;

  /** Microseconds of a warp's instruction that copies 4 to 16 bytes for each thread. */
  private static final double COPY = 0.0067;

  /** The same of fewer bytes, which go through registers. */
  private static final double SMALL_COPY = 0.01;

  /** To say that a part is written, and to see it. */
  private static final double COMBINING = 3;

  /** For two blocks of a cluster to meet. */
  private static final double PAIRING = 0.7;

  /** Bytes that a multiprocessor writes into another's shared memory in a microsecond. */
  private static final double CLUSTER_BYTES = 2.5e4;

  /** What shares that end inside of tiles cost for each wave that is divided so. */
  private static final double STREAMING = 13;

  /** How much longer steps take of blocks that are at different steps, and so share little. */
  private static final double APART = 1.2;

  /** How nearly what goes on at the same time takes no longer than the longest of it. */
  private static final double SHARP = 8;

  /** Name of the feature of kernels whose warps read operands from shared memory themselves. */
  static final String READING = "reading";

  private HopperModel() {}

  static Features features(GemmWorkload w, HopperConfig c, int multiprocessors) {
    int bytes = w.operands().bytes();
    double tilesM =
        Math.ceilDiv(w.m(), (long) c.tileM() * c.clusterM())
            * (double) c.clusterM()
            * w.batch().count();
    double tilesN = Math.ceilDiv(w.n(), (long) c.tileN() * c.clusterN()) * (double) c.clusterN();
    double tiles = tilesM * tilesN;
    double steps = Math.ceilDiv(w.k(), (long) c.tileK());
    int resident = multiprocessors * c.minBlocks();
    double slots =
        Math.min(
            c.blocks() > 0 ? c.blocks() : resident,
            Math.floor(resident * reached(c.clusterM() * c.clusterN())));
    Shared shared = shared(c, tiles, steps, slots);
    double waves = shared.waves();
    // Several blocks share a multiprocessor's units, if there are so many.
    double sharing = Math.min(c.minBlocks(), Math.max(1, shared.items() / multiprocessors));

    double ops = 2.0 * c.tileM() * c.tileN() * c.tileK();
    double columns = c.swapped() ? c.tileM() : c.tileN();
    double wide = columns / (columns + SPARE_COLUMNS) * (256 + SPARE_COLUMNS) / 256;
    double rate = OPS * 2 / bytes * wide * (c.consumers() == 1 ? ALONE : 1);
    double math = ops / rate * sharing;
    double loaded =
        ((double) c.tileM() / c.clusterN() + (double) c.tileN() / c.clusterM()) * c.tileK() * bytes;
    double l2 = loaded * (isRagged(w) ? RAGGED : 1) / L2_BYTES * sharing;
    double dram = dramBytes(w, c, slots, tilesM, tilesN, bytes);
    double dramTime = dram / DRAM_BYTES;
    double fetch = Math.max(l2, dramTime / (waves * steps));
    // A stage comes round again after its latency and its use.
    double cycle = (LATENCY + HELD * math) / (c.stages() * sharing);
    double step = together(math, fetch, cycle, copying(w, c) * sharing);
    double stored = 0.9 * c.tileM() * c.tileN() * w.result().bytes() / L2_BYTES;
    double epilogue = EPILOGUE + stored * (c.direct() ? DIRECT : 1);
    double exposed = c.blocks() > 0 || c.minBlocks() > 1 ? EXPOSED : 1;
    double predicted =
        LAUNCH
            + LATENCY
            + Math.max(waves * steps * step, dramTime)
            + epilogue * (1 + (Math.ceil(waves) - 1) * exposed)
            + shared.combining()
            + CLUSTER * log(c.clusterM() * c.clusterN());

    Map<String, Double> f = new LinkedHashMap<>();
    f.put("logM", log(w.m()));
    f.put("logN", log(w.n()));
    f.put("logK", log(w.k()));
    f.put("tileM", (double) c.tileM());
    f.put("tileN", (double) c.tileN());
    f.put("tileK", (double) c.tileK());
    f.put("stages", (double) c.stages());
    f.put("stageBytes", (double) (c.tileM() + c.tileN()) * c.tileK() * bytes);
    f.put("consumers", (double) c.consumers());
    f.put("clusterM", (double) c.clusterM());
    f.put("clusterN", (double) c.clusterN());
    f.put("persistent", c.blocks() > 0 ? 1.0 : 0.0);
    f.put("minBlocks", (double) c.minBlocks());
    f.put("swapped", c.swapped() ? 1.0 : 0.0);
    f.put("direct", c.direct() ? 1.0 : 0.0);
    f.put("order", order(c));
    f.put("waves", waves);
    f.put("tail", tiles / (waves * slots));
    f.put("parts", shared.parts());
    f.put("combining", shared.combining());
    f.put("steps", steps);
    f.put("math", log(math));
    f.put("l2", log(l2));
    f.put("dram", log(Math.max(dramTime, 1e-3)));
    f.put(
        "padding",
        tilesM * c.tileM() * tilesN * c.tileN() / ((double) w.m() * w.n() * w.batch().count()));
    f.put("sums", (double) HopperLimits.sumRegisters(w, c));
    // For kernels of mma.sync; a space of both needs the same features of all.
    f.put(READING, 0.0);
    f.put("predicted", log(predicted));
    return new Features(
        f.keySet().stream().toList(),
        f.values().stream().mapToDouble(Double::doubleValue).toArray(),
        predicted);
  }

  /**
   * The part of the multiprocessors that clusters of a size run on: groups of multiprocessors are
   * no multiples of 4 and 8, so some stay idle. On an H200 30 clusters of 4 are in one wave and 32
   * are not.
   */
  private static double reached(int cluster) {
    return cluster <= 2 ? 1 : cluster <= 4 ? 120.0 / 132 : 112.0 / 132;
  }

  /** Microseconds in which a producer's threads copy a step's tiles; 0 where bulk copies do. */
  private static double copying(GemmWorkload w, HopperConfig c) {
    int bytes = w.operands().bytes();
    return copying(w.pitchOfA() * bytes, (double) c.tileM() * c.tileK() * bytes)
        + copying(w.pitchOfB() * bytes, (double) c.tileN() * c.tileK() * bytes);
  }

  private static double copying(long row, double bytes) {
    long chunk = Math.min(CHUNK, Long.lowestOneBit(row));
    if (chunk == CHUNK) {
      return 0;
    }
    return bytes / (32 * chunk) * (chunk < 4 ? SMALL_COPY : COPY);
  }

  /** Whether rows begin in the middle of a sector of the cache. */
  static boolean isRagged(GemmWorkload w) {
    return (w.pitchOfA() | w.pitchOfB()) * w.operands().bytes() % SECTOR != 0;
  }

  /**
   * How work is shared out.
   *
   * @param items tiles and parts of tiles
   * @param waves tiles' worth of steps that a block does
   * @param parts of a tile that is divided, on average
   * @param combining microseconds that a block spends on writing and reading partial sums
   */
  private record Shared(double items, double waves, double parts, double combining) {}

  private static Shared shared(HopperConfig c, double tiles, double steps, double slots) {
    double cell = 4.0 * c.tileM() * c.tileN() / L2_BYTES;
    return switch (c.division()) {
      case WorkDivision.Whole() -> new Shared(tiles, Math.ceil(tiles / slots), 1, 0);
      case WorkDivision.Parts _ when c.isPaired() -> {
        double items = Math.ceil(tiles * 2 / slots);
        double half = 2.0 * c.tileM() * c.tileN() / Math.min(c.consumers(), 2) * 2;
        yield new Shared(
            tiles * 2,
            items * Math.ceil(steps / 2) / steps,
            2,
            items * (PAIRING + half / CLUSTER_BYTES));
      }
      case WorkDivision.Parts(int parts) -> {
        double items = Math.ceil(tiles * parts / slots);
        yield new Shared(
            tiles * parts,
            items * Math.ceil(steps / parts) / steps,
            parts,
            items * COMBINING + (items + parts - 1) * cell);
      }
      case WorkDivision.Stream(int more) -> {
        double rest = tiles % slots;
        double divided = rest == 0 ? 0 : rest + Math.min(more, Math.floor(tiles / slots)) * slots;
        double share = Math.ceil(divided * steps / slots) / steps;
        double parts = divided == 0 ? 1 : 1 + Math.max(1, Math.ceil(1 / share) - 1);
        yield new Shared(
            Math.max(tiles, slots),
            ((tiles - divided) / slots + share) * APART,
            parts,
            divided == 0 ? 0 : STREAMING * (1 + more));
      }
    };
  }

  /** Waves of tiles reuse within the wave; panels that fit the cache are read once. */
  private static double dramBytes(
      GemmWorkload w, HopperConfig c, double slots, double tilesM, double tilesN, int bytes) {
    long count = w.batch().count();
    double a = (double) w.m() * w.k() * bytes * (w.batch().sharedA() ? 1 : count);
    double b = (double) w.n() * w.k() * bytes * w.batch().countOfB();
    double result = (double) w.m() * w.n() * w.result().bytes() * count;
    if (a + b <= L2_SIZE) {
      return a + b + result;
    }
    double concurrent = Math.min(slots, tilesM * tilesN);
    double rows = Math.clamp(bandRows(c, concurrent), 1, tilesM);
    double columns = Math.clamp(concurrent / rows, 1, tilesN);
    double aReads = a <= L2_SIZE / 2 ? 1 : Math.max(1, tilesN / columns);
    double bReads = b <= L2_SIZE / 2 ? 1 : Math.max(1, tilesM / rows);
    return a * aReads + b * bReads + result;
  }

  /** How many rows of tiles run at the same time. */
  private static double bandRows(HopperConfig c, double concurrent) {
    return switch (c.order()) {
      case BlockOrder.Grouped(int rows) -> (double) rows * c.clusterM();
      case BlockOrder.Column _ -> concurrent;
      case BlockOrder.Row _, BlockOrder.Serpentine _ -> c.clusterM();
      case BlockOrder.Nested(int side) -> Math.min((double) side * c.clusterM(), concurrent);
      case BlockOrder.Morton _, BlockOrder.Hilbert _, BlockOrder.Explicit _ ->
          Math.sqrt(concurrent * c.tileN() / c.tileM());
    };
  }

  private static double order(HopperConfig c) {
    return switch (c.order()) {
      case BlockOrder.Row _ -> 1;
      case BlockOrder.Serpentine _ -> 1.5;
      case BlockOrder.Grouped(int rows) -> rows;
      case BlockOrder.Column _ -> 64;
      case BlockOrder.Morton _ -> 100;
      case BlockOrder.Hilbert _ -> 101;
      case BlockOrder.Nested(int side) -> 200 + side;
      case BlockOrder.Explicit _ -> 102;
    };
  }

  /**
   * What goes on at the same time takes as long as the longest of it, and somewhat longer the less
   * the others leave to spare: this, too, says that deeper pipelines are better.
   */
  private static double together(double... parts) {
    double sum = 0;
    for (double part : parts) {
      sum += Math.pow(part, SHARP);
    }
    return Math.pow(sum, 1 / SHARP);
  }

  private static double log(double x) {
    return Math.log(x) / Math.log(2);
  }
}
