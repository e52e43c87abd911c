package dev.warpwright.cli.tuning;

import dev.warpwright.tune.Tuner;

/**
 * The seconds of searches that share a GPU: each may take as many times its own as there are of
 * them, for it has a part of the GPU; all together no more than one after the other.
 */
final class SearchTime {
  private final long start = System.nanoTime();
  private final double seconds;
  private final int sharing;

  private SearchTime(double seconds, int sharing) {
    this.seconds = seconds;
    this.sharing = sharing;
  }

  /**
   * The time begins now.
   *
   * @param seconds that all searches may take, one after the other on each GPU
   * @param sharing how many share a GPU
   */
  static SearchTime begin(double seconds, int sharing) {
    return new SearchTime(seconds, sharing);
  }

  /** The limits of a search that begins now, by those that it would have alone. */
  Tuner.Limits of(Tuner.Limits alone) {
    double left = seconds - (System.nanoTime() - start) * 1e-9;
    return new Tuner.Limits(
        alone.trials(), Math.max(alone.seconds(), Math.min(sharing * alone.seconds(), left)));
  }
}
