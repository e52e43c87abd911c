package dev.warpwright.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.space.Features;
import dev.warpwright.tune.search.BoostedTrees;
import dev.warpwright.tune.search.CostModel;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ModelsOfSearchesTest {
  private static final int COLUMNS = 30;
  private static final int SEARCHES = 8;

  /** Several searches at once, one for each GPU, must not disturb each other. */
  @Test
  void modelsOfSeveralSearchesAreIndependent() throws InterruptedException, ExecutionException {
    List<double[]> alone =
        IntStream.range(0, SEARCHES).mapToObj(ModelsOfSearchesTest::search).toList();
    assertThat(alone.get(0)).isNotEqualTo(alone.get(1));
    try (var threads = Executors.newFixedThreadPool(SEARCHES)) {
      List<Future<double[]>> together = new ArrayList<>();
      for (int s = 0; s < SEARCHES; s++) {
        int seed = s;
        together.add(threads.submit(() -> search(seed)));
      }
      for (int s = 0; s < SEARCHES; s++) {
        assertThat(together.get(s).get()).as("search %d", s).isEqualTo(alone.get(s));
      }
    }
  }

  /** Learns more and more samples, as a search does; what it predicts in the end. */
  private static double[] search(int seed) {
    CostModel model = new BoostedTrees();
    SplittableRandom random = new SplittableRandom(seed);
    List<CostModel.Sample> samples = new ArrayList<>();
    double[] predicted = {};
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 40; i++) {
        Features features = features(random);
        samples.add(new CostModel.Sample(features, 1 + features.values()[0] + random.nextDouble()));
      }
      model.fit(samples);
      predicted = model.predict(samples.stream().map(CostModel.Sample::features).toList());
    }
    return predicted;
  }

  /** Most values are 0, as those of decisions that a candidate does not take. */
  private static Features features(SplittableRandom random) {
    double[] values = new double[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
      values[i] = random.nextInt(10) == 0 ? random.nextInt(8) : 0;
    }
    return new Features(IntStream.range(0, COLUMNS).mapToObj(i -> "x" + i).toList(), values, 2);
  }
}
