package dev.warpwright.tune.search;

import dev.warpwright.space.Features;
import java.util.List;

/** Guesses how long candidates take. */
public interface CostModel {
  /** A candidate that was measured. */
  record Sample(Features features, double timeUs) {}

  /** Learns from all that was measured so far; forgets what it learned before. */
  void fit(List<Sample> samples);

  /** Guessed times in microseconds, in order. Only their ranking matters. */
  double[] predict(List<Features> features);

  /** The analytic model: it learns nothing. */
  static CostModel analytic() {
    return new CostModel() {
      @Override
      public void fit(List<Sample> samples) {}

      @Override
      public double[] predict(List<Features> features) {
        return features.stream().mapToDouble(Features::predictedUs).toArray();
      }
    };
  }
}
