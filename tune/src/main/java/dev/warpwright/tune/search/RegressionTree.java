package dev.warpwright.tune.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A tree of thresholds that fits the mean of a number to regions of the features. */
final class RegressionTree {
  private static final int LEAVES = 15;
  private static final int LEAST_IN_LEAF = 3;

  private int feature = -1;
  private double threshold;
  private double value;
  private @Nullable RegressionTree low;
  private @Nullable RegressionTree high;

  /** For each feature the rows' numbers, by its value. */
  record Sorted(int[][] rows) {}

  /**
   * The best division of a leaf.
   *
   * @param gain by how much the sum of squares falls
   */
  private record Division(
      RegressionTree leaf, Sorted sorted, int feature, double threshold, double gain) {}

  private RegressionTree(double value) {
    this.value = value;
  }

  /** Sorts rows by each feature, once for all trees. */
  static Sorted sort(double[][] rows) {
    int[][] sorted = new int[rows[0].length][];
    for (int f = 0; f < sorted.length; f++) {
      int feature = f;
      sorted[f] =
          IntStream.range(0, rows.length)
              .boxed()
              .sorted(Comparator.comparingDouble(row -> rows[row][feature]))
              .mapToInt(Integer::intValue)
              .toArray();
    }
    return new Sorted(sorted);
  }

  /**
   * Grows a tree.
   *
   * @param rows the features' values
   * @param targets the numbers to be fitted, one for each row
   */
  static RegressionTree grow(double[][] rows, Sorted sorted, double[] targets) {
    RegressionTree root = leaf(sorted, targets);
    PriorityQueue<Division> best =
        new PriorityQueue<>(Comparator.comparingDouble(division -> -division.gain()));
    add(best, root, rows, sorted, targets);
    for (int leaves = 1; leaves < LEAVES && !best.isEmpty(); leaves++) {
      Division division = best.remove();
      List<Sorted> halves = halves(division, rows);
      RegressionTree low = leaf(halves.getFirst(), targets);
      RegressionTree high = leaf(halves.getLast(), targets);
      division.leaf().divide(division, low, high);
      add(best, low, rows, halves.getFirst(), targets);
      add(best, high, rows, halves.getLast(), targets);
    }
    return root;
  }

  private void divide(Division division, RegressionTree below, RegressionTree above) {
    feature = division.feature();
    threshold = division.threshold();
    low = below;
    high = above;
  }

  private static RegressionTree leaf(Sorted sorted, double[] targets) {
    return new RegressionTree(
        IntStream.of(sorted.rows()[0]).mapToDouble(row -> targets[row]).average().orElse(0));
  }

  /** Finds where to divide a leaf, if that gains anything. */
  private static void add(
      PriorityQueue<Division> best,
      RegressionTree leaf,
      double[][] rows,
      Sorted sorted,
      double[] targets) {
    int count = sorted.rows()[0].length;
    double sum = leaf.value * count;
    Division found = null;
    for (int f = 0; f < sorted.rows().length; f++) {
      int[] order = sorted.rows()[f];
      double below = 0;
      for (int i = 0; i + 1 < count; i++) {
        below += targets[order[i]];
        double here = rows[order[i]][f];
        double next = rows[order[i + 1]][f];
        int n = i + 1;
        if (here == next || n < LEAST_IN_LEAF || count - n < LEAST_IN_LEAF) {
          continue;
        }
        double above = sum - below;
        double gain = below * below / n + above * above / (count - n) - sum * sum / count;
        if (gain > (found == null ? 1e-12 : found.gain())) {
          found = new Division(leaf, sorted, f, (here + next) / 2, gain);
        }
      }
    }
    if (found != null) {
      best.add(found);
    }
  }

  /** The rows of a leaf up to the threshold, and those above it. */
  private static List<Sorted> halves(Division division, double[][] rows) {
    List<Sorted> halves = new ArrayList<>();
    for (boolean up : new boolean[] {false, true}) {
      int[][] part = new int[division.sorted().rows().length][];
      for (int f = 0; f < part.length; f++) {
        part[f] =
            IntStream.of(division.sorted().rows()[f])
                .filter(row -> rows[row][division.feature()] > division.threshold() == up)
                .toArray();
      }
      halves.add(new Sorted(part));
    }
    return halves;
  }

  /** What the tree says of a row. */
  double value(double[] row) {
    RegressionTree node = this;
    while (node.low != null && node.high != null) {
      node = row[node.feature] > node.threshold ? node.high : node.low;
    }
    return node.value;
  }
}
