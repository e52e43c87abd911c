package dev.warpwright.tune.measure;

/**
 * Where the time of verifying and timing one candidate went; what is missing in its whole time is
 * that of loading.
 *
 * @param data seconds in which inputs and references of its workload were made
 * @param verifying seconds in which its results were compared
 * @param timing seconds in which it ran for its time
 */
public record Phases(double data, double verifying, double timing) {
  /** Nothing is known. */
  public static final Phases NONE = new Phases(0, 0, 0);
}
