package dev.warpwright.tune.search;

import dev.warpwright.space.Features;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gradient-boosted trees over the logarithm of measured by predicted time: what they learn is how
 * the analytic model is wrong, so with few samples they are no worse than it.
 *
 * <p>Each tree is grown by its best leaf first, as Ke et al. do ("LightGBM: A Highly Efficient
 * Gradient Boosting Decision Tree", NIPS 2017), to the squares of what the trees before it left.
 */
public final class BoostedTrees implements CostModel {
  /** A model that has learned nothing yet: it ranks as the analytic model does. */
  public BoostedTrees() {}

  private static final int LEAST_SAMPLES = 12;
  private static final int TREES = 120;
  private static final double RATE = 0.08;

  /** Learnt anew when there are so many times the samples: that takes longer the more there are. */
  private static final double MORE = 1.05;

  /** Stands for a feature that a sketch does not have; none has such a value. */
  private static final double MISSING = -1e9;

  private final Map<String, Integer> columns = new HashMap<>();
  private final List<RegressionTree> trees = new ArrayList<>();
  private double mean;
  private int known;

  @Override
  public void fit(List<Sample> samples) {
    if (samples.size() < LEAST_SAMPLES) {
      trees.clear();
      known = 0;
      return;
    }
    if (samples.size() >= known && samples.size() < MORE * known) {
      return;
    }
    known = samples.size();
    trees.clear();
    columns.clear();
    for (Sample sample : samples) {
      sample.features().names().forEach(name -> columns.putIfAbsent(name, columns.size()));
    }
    double[][] rows =
        samples.stream().map(sample -> row(sample.features())).toArray(double[][]::new);
    double[] left =
        samples.stream()
            .mapToDouble(sample -> Math.log(sample.timeUs() / sample.features().predictedUs()))
            .toArray();
    mean = Arrays.stream(left).average().orElse(0);
    for (int i = 0; i < left.length; i++) {
      left[i] -= mean;
    }
    RegressionTree.Sorted sorted = RegressionTree.sort(rows);
    for (int t = 0; t < TREES; t++) {
      RegressionTree tree = RegressionTree.grow(rows, sorted, left);
      trees.add(tree);
      for (int i = 0; i < left.length; i++) {
        left[i] -= RATE * tree.value(rows[i]);
      }
    }
  }

  @Override
  public double[] predict(List<Features> features) {
    return features.stream().mapToDouble(this::predict).toArray();
  }

  private double predict(Features features) {
    if (trees.isEmpty()) {
      return features.predictedUs();
    }
    double[] row = row(features);
    double sum = mean;
    for (RegressionTree tree : trees) {
      sum += RATE * tree.value(row);
    }
    return features.predictedUs() * Math.exp(sum);
  }

  /** Values by the features' names: sketches of one space need not have the same. */
  private double[] row(Features features) {
    double[] row = new double[columns.size()];
    Arrays.fill(row, MISSING);
    for (int i = 0; i < features.names().size(); i++) {
      Integer column = columns.get(features.names().get(i));
      if (column != null) {
        row[column] = features.values()[i];
      }
    }
    return row;
  }
}
