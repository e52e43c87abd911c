package dev.warpwright.families;

import dev.warpwright.space.Features;
import java.util.List;

/** The features that candidates with matrix instructions have, in all families of a space. */
public final class TileFeatures {
  private static final List<String> NAMES =
      List.of(
          "logM",
          "logN",
          "logK",
          "tileM",
          "tileN",
          "tileK",
          "stages",
          "stageBytes",
          "consumers",
          "clusterM",
          "clusterN",
          "persistent",
          "minBlocks",
          "swapped",
          "direct",
          "order",
          "waves",
          "tail",
          "parts",
          "combining",
          "steps",
          "math",
          "l2",
          "dram",
          "padding",
          "sums",
          "reading",
          "predicted");

  private TileFeatures() {}

  /**
   * Of a candidate.
   *
   * @param grid its tiles
   * @param shares how they are shared out
   * @param kind the decisions that are no part of the grid: stages, consumers, whether blocks are
   *     persistent, operands swapped, results stored from registers
   * @param step microseconds: combining, products, copies from L2, DRAM for the whole kernel,
   *     reading from shared memory
   * @param sums of a thread
   * @param predicted microseconds
   */
  public static Features of(
      TileGrid grid, TileGrid.Shares shares, Kind kind, Step step, double sums, double predicted) {
    var w = grid.workload();
    int bytes = w.operands().bytes();
    double[] values = {
      log(w.m()),
      log(w.n()),
      log(w.k()),
      grid.tileM(),
      grid.tileN(),
      grid.tileK(),
      kind.stages(),
      (double) (grid.tileM() + grid.tileN()) * grid.tileK() * bytes,
      kind.consumers(),
      grid.clusterM(),
      grid.clusterN(),
      kind.persistent() ? 1 : 0,
      grid.minBlocks(),
      kind.swapAb() ? 1 : 0,
      kind.direct() ? 1 : 0,
      grid.orderNumber(),
      shares.waves(),
      grid.tiles() / (shares.waves() * grid.slots()),
      shares.parts(),
      step.combining(),
      grid.steps(),
      log(step.math()),
      log(step.l2()),
      log(Math.max(step.dram(), 1e-3)),
      1 / (grid.insideM() * grid.insideN()),
      sums,
      step.reading(),
      log(predicted)
    };
    return new Features(NAMES, values, predicted);
  }

  /** The same of a kernel that takes so many microseconds longer than its tiles. */
  public static Features longer(Features tiles, double micros) {
    double predicted = tiles.predictedUs() + micros;
    double[] values = tiles.values();
    values[NAMES.indexOf("predicted")] = log(predicted);
    return new Features(NAMES, values, predicted);
  }

  /** Decisions that are no part of a grid. */
  public record Kind(
      int stages, int consumers, boolean persistent, boolean swapAb, boolean direct) {}

  /** Microseconds of a step, and of a kernel: combining and DRAM. */
  public record Step(double combining, double math, double l2, double dram, double reading) {}

  public static double log(double x) {
    return Math.log(x) / Math.log(2);
  }
}
