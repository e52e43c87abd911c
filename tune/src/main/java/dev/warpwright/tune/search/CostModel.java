package dev.warpwright.tune.search;

import dev.warpwright.space.Features;
import java.util.List;

/** Guesses how long candidates take. */
public interface CostModel {
  /**
   * A candidate that was measured.
   *
   * @param features what was expected
   * @param timeUs what was measured
   */
  record Sample(Features features, double timeUs) {}

  /**
   * Learns from all that was measured so far; forgets what it learned before.
   *
   * @param samples candidates that have a time
   */
  void fit(List<Sample> samples);

  /**
   * {@return guessed times in microseconds, in order} Only their ranking matters.
   *
   * @param features of each candidate
   */
  double[] predict(List<Features> features);

  /** {@return the analytic model: it learns nothing} */
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
