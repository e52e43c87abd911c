package dev.warpwright.families;

import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.workload.GemmWorkload;

/**
 * The tiles of a product, the blocks that run at the same time, and what all of them read.
 *
 * @param workload what is computed
 * @param tileM rows of a tile
 * @param tileN columns of a tile
 * @param tileK length of a step along K
 * @param clusterM blocks of a cluster one above the other
 * @param clusterN blocks of a cluster side by side
 * @param order of the tiles
 * @param minBlocks blocks that an SM holds
 * @param reached SMs that blocks run on
 * @param slots blocks that run at the same time
 * @param kept bytes of an operand that stay in L2 while others pass
 */
public record TileGrid(
    GemmWorkload workload,
    int tileM,
    int tileN,
    int tileK,
    int clusterM,
    int clusterN,
    BlockOrder order,
    int minBlocks,
    double reached,
    double slots,
    double kept) {
  /** Blocks at no more places of K than these read what is still in L2. */
  private static final int FEW_PLACES = 4;

  /** Bytes of a line of the caches. */
  public static final int LINE = 128;

  /**
   * How work is shared out.
   *
   * @param items tiles and parts of tiles
   * @param own tiles and parts that the busiest SM has
   * @param waves tiles' worth of steps that the busiest block does
   * @param parts of a tile that is divided, on average
   * @param divided waves of tiles that are divided where shares end inside of tiles
   */
  public record Shares(double items, double own, double waves, double parts, double divided) {}

  /** Tiles from top to bottom, those of a batch one below the other, in whole clusters. */
  double tilesM() {
    return Math.ceilDiv(workload.m(), (long) tileM * clusterM)
        * (double) clusterM
        * workload.batch().count();
  }

  /** Tiles from left to right, in whole clusters. */
  double tilesN() {
    return Math.ceilDiv(workload.n(), (long) tileN * clusterN) * (double) clusterN;
  }

  double tiles() {
    return tilesM() * tilesN();
  }

  public double steps() {
    return Math.ceilDiv(workload.k(), (long) tileK);
  }

  /** Part of the rows of all tiles that are rows of the result. */
  public double insideM() {
    return (double) workload.m() * workload.batch().count() / (tilesM() * tileM);
  }

  /** Part of the columns of all tiles that are columns of the result. */
  public double insideN() {
    return workload.n() / (tilesN() * tileN);
  }

  /** Bytes of A and B that a block needs for a step; what lies outside of them is not read. */
  public double stepBytes() {
    return (tileM * insideM() + tileN * insideN()) * tileK * workload.operands().bytes();
  }

  /** Blocks that share a busy SM. */
  public double sharing(double items) {
    return Math.min(minBlocks, Math.max(1, Math.ceil(items / reached)));
  }

  /** Tiles that are whole: what the busiest SM has is done some at a time. */
  Shares whole() {
    return parts(1);
  }

  /** All tiles in so many parts. */
  public Shares parts(int parts) {
    double items = tiles() * parts;
    double own = Math.ceil(items / Math.min(reached, slots / minBlocks));
    double waves =
        own / Math.min(own, minBlocks) * (parts == 1 ? 1 : Math.ceil(steps() / parts) / steps());
    return new Shares(items, own, waves, parts, 0);
  }

  /** Shares of equal numbers of steps of the last tiles, and of so many waves more. */
  Shares stream(int more) {
    double divided = divided(more);
    double share = Math.ceil(divided * steps() / slots) / steps();
    double parts = divided == 0 ? 1 : 1 + Math.max(1, Math.ceil(1 / share) - 1);
    double waves = (tiles() - divided) / slots + share;
    return new Shares(
        Math.max(tiles(), slots), Math.ceil(waves), waves, parts, divided == 0 ? 0 : 1 + more);
  }

  /** Tiles whose steps blocks share out, the last ones and so many waves more. */
  public double divided(int more) {
    double rest = tiles() % slots;
    return rest == 0 ? 0 : rest + Math.min(more, Math.floor(tiles() / slots)) * slots;
  }

  /**
   * Bytes of A and B that blocks which share out the last tiles read from DRAM again: they are at
   * different places of K, and when the next one needs a row of tiles, it may have left L2. Where
   * the places are few, many blocks are in step.
   *
   * @param more waves of tiles that are shared out beside the last ones
   */
  public double readApart(int more) {
    double divided = divided(more);
    if (divided == 0 || placesOfK(divided) <= FEW_PLACES) {
      return 0;
    }
    double bytes = divided * workload.k() * workload.operands().bytes();
    double a = bytes * tileM * insideM() / clusterN;
    double b = bytes * tileN * insideN() / clusterM;
    return a * lost((a + b) * clusterN / tilesN()) + b * lost((a + b) * clusterM / tilesM());
  }

  /** Places of K at which the blocks are that share out so many tiles. */
  private double placesOfK(double divided) {
    double rest = divided;
    double common = slots;
    while (rest > 0) {
      double next = common % rest;
      common = rest;
      rest = next;
    }
    return slots / common;
  }

  /** As a division says. */
  public Shares shares(WorkDivision division) {
    return switch (division) {
      case WorkDivision.Whole() -> whole();
      case WorkDivision.Parts(int parts) -> parts(parts);
      case WorkDivision.Stream(int more) -> stream(more);
    };
  }

  /** Bytes of the result. */
  public double resultBytes() {
    return (double) workload.m()
        * workload.resultColumns()
        * workload.result().bytes()
        * workload.batch().count();
  }

  /**
   * Bytes of A and B that come from DRAM: once, and once more for each wave that needs them, as far
   * as they do not stay in L2.
   */
  public double operandBytes() {
    int bytes = workload.operands().bytes();
    long count = workload.batch().count();
    double a = (double) workload.m() * workload.k() * bytes;
    double b = (double) workload.n() * workload.k() * bytes;
    double allOfA = a * (workload.batch().sharedA() ? 1 : count);
    double allOfB = b * workload.batch().countOfB();
    double concurrent = Math.min(slots, tiles());
    double rows = Math.clamp(bandRows(concurrent), 1, tilesM());
    double columns = Math.clamp(concurrent / rows, 1, tilesN());
    double lost = lost(allOfA + allOfB);
    return allOfA * (1 + (tilesN() / columns - 1) * Math.min(lost, lost(allOfA)))
        + allOfB * (1 + (tilesM() / rows - 1) * Math.min(lost, lost(allOfB)));
  }

  /**
   * Bytes of A and B that other clusters read at the same time, each operand twice at most; 0 where
   * there are so many tiles that few of an operand's readers run together, or several matrices.
   */
  public double readAgain() {
    if (workload.batch().isMany() || tiles() > 2 * slots) {
      return 0;
    }
    double a = (double) workload.m() * workload.k() * workload.operands().bytes();
    double b = (double) workload.n() * workload.k() * workload.operands().bytes();
    return a * Math.min(2, tilesN() / clusterN - 1) + b * Math.min(2, tilesM() / clusterM - 1);
  }

  /** Part of so many bytes that is no longer in the cache when it is read again. */
  private double lost(double bytes) {
    return Math.clamp(bytes / kept - 1, 0, 1);
  }

  /** How many rows of tiles run at the same time. */
  private double bandRows(double concurrent) {
    return switch (order) {
      case BlockOrder.Grouped(int rows) -> (double) rows * clusterM;
      case BlockOrder.Column _ -> concurrent;
      case BlockOrder.Row _, BlockOrder.Serpentine _ -> Math.max(clusterM, concurrent / tilesN());
      case BlockOrder.Nested(int side) -> Math.min((double) side * clusterM, concurrent);
      case BlockOrder.Morton _, BlockOrder.Hilbert _, BlockOrder.Explicit _ ->
          Math.sqrt(concurrent * tileN / tileM);
    };
  }

  /** The order as a number, for models that learn. */
  double orderNumber() {
    return switch (order) {
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
   * the others leave to spare.
   *
   * @param sharp how little longer
   */
  public static double together(double sharp, double... parts) {
    double longest = 0;
    for (double part : parts) {
      longest = Math.max(longest, part);
    }
    double sum = 0;
    for (double part : parts) {
      sum += Math.pow(part / longest, sharp);
    }
    return longest * Math.pow(sum, 1 / sharp);
  }
}
