package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.SimtConfig;
import dev.warpwright.ir.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Features;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What is expected of a product of threads without running it: the blocks in waves, each step
 * bounded by the multiply-adds, by what else is issued, by shared memory, by the way from the
 * second-level cache and by latency; all of it by DRAM.
 *
 * <p>Times are in clocks of an H200 at 1980 MHz, fitted to 380 measurements (docs/benchmarks,
 * 2026-11-20, threads); they make an order of candidates, not a promise.
 */
final class SimtModel {
  private static final double MHZ = 1980;

  /** Part of the clocks in which multiply-adds are issued at best: operands, power. */
  private static final double FMA_EFFICIENCY = 0.84;

  /** What going to and fro gains: an operand stays where it is. */
  private static final double SERPENTINE = 1.05;

  /** What reading ahead by hand costs where the compiler does it better, and long code. */
  private static final double AHEAD = 0.95;

  private static final double DEEP = 0.95;

  /** Bytes that a multiprocessor takes from the second-level cache in a clock. */
  private static final double L2_BYTES = 50;

  /** Bytes that all take from DRAM in a clock, where rows are copied sector by sector. */
  private static final double DRAM_BYTES = 2.8e6 / MHZ;

  /** How much faster whole lines of rows are copied. */
  private static final double WHOLE_LINES = 1.5;

  /** Clocks from asking for a tile to having it. */
  private static final double LATENCY = 1100;

  /** Clocks of a read of shared memory, and around a barrier. */
  private static final double READ = 30;

  private static final double BARRIER = 90;

  /** How much longer a scheduler with one warp takes. */
  private static final double ALONE = 1.25;

  private static final double LAUNCH = 3;

  private SimtModel() {}

  static Features features(GemmWorkload w, SimtConfig c, GpuTarget target, int multiprocessors) {
    int bytes = w.operands().bytes();
    int run = 16 / bytes;
    double tilesM = Math.ceilDiv(w.m(), (long) c.tileM());
    double tilesN = Math.ceilDiv(w.n(), (long) c.tileN());
    double tiles = tilesM * tilesN;
    double steps = Math.max(1, Math.ceilDiv(w.k(), (long) c.tileK()));
    double slots = (double) multiprocessors * c.minBlocks();
    double own = Math.ceil(tiles / multiprocessors);
    double resident = Math.min(own, c.minBlocks());
    // Blocks start when others end, so that the last ones need not be a whole wave.
    double waves = own / resident;

    double warps = c.threads() / 32.0;
    double depth = (double) c.tileK() / c.slices();
    int rows = c.warpM() / c.lanesM();
    int columns = c.warpN() / c.lanesN();
    double fma = (double) rows * columns * depth;
    double readsA = Math.ceil((double) rows / run);
    double readsB = Math.ceil((double) columns / run);
    double reads = c.alongK() ? (rows + columns) * depth / run : (readsA + readsB) * depth;
    double copied = (double) (c.tileM() + c.tileN()) * c.tileK();
    double copies = copies(w, c, run) / warps;
    double perClock = w.operands() == DType.F64 ? f64PerClock(target) : target.fp32PerClock() / 2.0;
    double efficiency =
        FMA_EFFICIENCY
            * (c.serpentine() ? SERPENTINE : 1)
            * (c.ahead() ? AHEAD : 1)
            * (c.tileK() > 8 ? DEEP : 1);
    double math = warps * fma * 32 / perClock / efficiency;
    double issue = math + warps * (reads + 3 * copies + 20) / 4;
    double shared =
        warps * (reads * (c.lanesM() > 1 && c.lanesN() > 1 || bytes == 8 ? 2 : 3) + copies * 2);
    // What a scheduler's other warps may hide: reads, the barrier.
    double waits = depth * READ / 10 + BARRIER;
    double l2 = copied * bytes / L2_BYTES;
    double busy = Math.max(issue, Math.max(shared, l2)) + (shared + l2) / 8;
    busy *= resident;
    // One warp of a scheduler hides nothing.
    double together = resident * warps / 4;
    double step = busy * (together < 2 ? ALONE : 1) + waits / Math.max(1, together);
    // Copies are under way for all stages but one, or until the end of a step.
    step = Math.max(step, LATENCY / (c.stages() - 1));
    double end = 500 + c.sums() * warps * resident * (c.slices() > 1 ? 4 : 2);
    double dram =
        dramBytes(w, c, slots, tilesM, tilesN) / (c.alongK() ? WHOLE_LINES : 1) / DRAM_BYTES;
    double work = waves * (steps * step + end);
    double clocks = Math.max(work, dram) + Math.min(work, dram) / 8 + LATENCY;
    double predicted = LAUNCH + clocks / MHZ;

    Map<String, Double> f = new LinkedHashMap<>();
    f.put("logM", log(w.m()));
    f.put("logN", log(w.n()));
    f.put("logK", log(w.k()));
    f.put("tileM", (double) c.tileM());
    f.put("tileN", (double) c.tileN());
    f.put("tileK", (double) c.tileK());
    f.put("rows", (double) rows);
    f.put("columns", (double) columns);
    f.put("lanesM", (double) c.lanesM());
    f.put("threads", (double) c.threads());
    f.put("slices", (double) c.slices());
    f.put("stages", (double) c.stages());
    f.put("ahead", c.ahead() ? 1.0 : 0.0);
    f.put("serpentine", c.serpentine() ? 1.0 : 0.0);
    f.put("alongK", c.alongK() ? 1.0 : 0.0);
    f.put("minBlocks", (double) c.minBlocks());
    f.put("residentWarps", warps * c.minBlocks());
    f.put("waves", waves);
    f.put("tail", tiles / (waves * slots));
    f.put("steps", steps);
    f.put("math", log(math));
    f.put("issue", log(issue));
    f.put("shared", log(shared));
    f.put("l2", log(l2));
    f.put("dram", log(Math.max(dram, 1)));
    f.put("predicted", log(predicted));
    return new Features(
        f.keySet().stream().toList(),
        f.values().stream().mapToDouble(Double::doubleValue).toArray(),
        predicted);
  }

  /** Instructions of all warps that bring the tiles of a step. */
  private static double copies(GemmWorkload w, SimtConfig c, int run) {
    // What is turned on its way is stored element by element, or copied so.
    double a = (double) c.tileM() * c.tileK() / (w.layout().transposedA() || c.alongK() ? run : 1);
    double b = (double) c.tileN() * c.tileK() / (w.layout().transposedB() && !c.alongK() ? 1 : run);
    return Math.ceil(a / 32) + Math.ceil(b / 32);
  }

  private static double f64PerClock(GpuTarget target) {
    return switch (target.name()) {
      case "sm_90a" -> 64;
      case "sm_80" -> 32;
      default -> 2;
    };
  }

  /** Blocks that run together share what they read. */
  private static double dramBytes(
      GemmWorkload w, SimtConfig c, double slots, double tilesM, double tilesN) {
    int bytes = w.operands().bytes();
    double a = (double) w.m() * w.k() * bytes;
    double b = (double) w.n() * w.k() * bytes;
    double rows = Math.clamp(slots / tilesN, 1, tilesM);
    double result = (double) w.m() * w.n() * w.result().bytes();
    boolean kept = a + b <= 4e7;
    return a + result + b * (kept ? 1 : Math.max(1, tilesM / rows));
  }

  private static double log(double x) {
    return Math.log(x) / Math.log(2);
  }
}
