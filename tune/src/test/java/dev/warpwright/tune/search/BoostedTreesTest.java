package dev.warpwright.tune.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.space.Features;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class BoostedTreesTest {
  private final SplittableRandom random = new SplittableRandom(1);

  /** Twice and four times what is predicted, by two of three features; the third is noise. */
  private static double time(Features features) {
    double[] x = features.values();
    return features.predictedUs() * (x[0] > 5 ? 2 : 1) * (x[1] > 3 && x[0] > 2 ? 4 : 1);
  }

  private Features features() {
    return new Features(
        List.of("a", "b", "c"),
        new double[] {random.nextInt(10), random.nextInt(8), random.nextDouble()},
        1 + random.nextDouble() * 10);
  }

  private List<CostModel.Sample> samples(int count) {
    List<CostModel.Sample> samples = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Features features = features();
      samples.add(new CostModel.Sample(features, time(features)));
    }
    return samples;
  }

  @Test
  void withFewSamplesItIsTheAnalyticModel() {
    BoostedTrees trees = new BoostedTrees();
    trees.fit(samples(11));
    Features features = features();
    assertThat(trees.predict(List.of(features))).containsExactly(features.predictedUs());
  }

  @Test
  void itLearnsHowTheAnalyticModelIsWrong() {
    BoostedTrees trees = new BoostedTrees();
    trees.fit(samples(300));
    double error = 0;
    for (int i = 0; i < 200; i++) {
      Features features = features();
      double predicted = trees.predict(List.of(features))[0];
      error += Math.abs(Math.log(predicted / time(features))) / 200;
    }
    assertThat(error).isLessThan(0.02);
  }

  @Test
  void itForgetsWhatItLearnedBefore() {
    BoostedTrees trees = new BoostedTrees();
    trees.fit(samples(300));
    List<CostModel.Sample> right =
        samples(40).stream()
            .map(s -> new CostModel.Sample(s.features(), s.features().predictedUs()))
            .toList();
    trees.fit(right);
    Features features = features();
    assertThat(trees.predict(List.of(features))[0] / features.predictedUs())
        .isBetween(0.99999, 1.00001);
  }

  @Test
  void sketchesMayHaveDifferentFeatures() {
    List<CostModel.Sample> samples = new ArrayList<>(samples(100));
    for (int i = 0; i < 100; i++) {
      Features other = new Features(List.of("d"), new double[] {random.nextInt(4)}, 1);
      samples.add(new CostModel.Sample(other, 8));
    }
    BoostedTrees trees = new BoostedTrees();
    trees.fit(samples);
    Features other = new Features(List.of("d", "new"), new double[] {2, 1}, 1);
    assertThat(trees.predict(List.of(other))[0]).isBetween(7.8, 8.2);
  }

  @Test
  void thousandsOfSamplesAreLearntInTime() {
    List<CostModel.Sample> many = samples(4000);
    long start = System.nanoTime();
    new BoostedTrees().fit(many);
    assertThat((System.nanoTime() - start) * 1e-9).isLessThan(20);
  }
}
