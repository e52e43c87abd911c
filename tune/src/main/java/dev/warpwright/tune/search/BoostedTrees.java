package dev.warpwright.tune.search;

import dev.warpwright.tune.space.Features;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Gradient-boosted trees over the logarithm of measured by predicted time: what they learn is how
 * the analytic model is wrong, so with few samples they are no worse than it.
 *
 * <p>Each tree is grown by its best leaf first, as Ke et al. do ("LightGBM: A Highly Efficient
 * Gradient Boosting Decision Tree", NIPS 2017), to the squares of what the trees before it left.
 */
public final class BoostedTrees implements CostModel {
  private static final int LEAST_SAMPLES = 12;
  private static final int TREES = 120;
  private static final double RATE = 0.08;

  /** Learnt anew when there are so many times the samples: that takes longer the more there are. */
  private static final double MORE = 1.05;

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
    double[][] rows =
        samples.stream().map(sample -> sample.features().values()).toArray(double[][]::new);
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
    double sum = mean;
    for (RegressionTree tree : trees) {
      sum += RATE * tree.value(features.values());
    }
    return features.predictedUs() * Math.exp(sum);
  }
}
