package dev.warpwright.measure.network;

import dev.warpwright.space.record.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What became of a program of a network.
 *
 * @param facts null if it could not be compiled
 * @param error the worst before and after timing; null if it did not run
 * @param times null if it is wrong, or only verified
 * @param failure null if all is well
 */
public record NetworkResult(
    String name,
    @Nullable ProgramFacts facts,
    @Nullable NetworkError error,
    @Nullable NetworkTimes times,
    Outcome.@Nullable Failed failure) {
  /** One that did not come to run. */
  static NetworkResult failed(String name, @Nullable ProgramFacts facts, Outcome.Failed failure) {
    return new NetworkResult(name, facts, null, null, failure);
  }

  NetworkResult with(Outcome.Failed wrong, NetworkError its) {
    return new NetworkResult(name, facts, its, null, wrong);
  }

  /**
   * What a record keeps of it, or null of what was only verified.
   *
   * @param clockMhz the clock while it was measured, 0 if it is not known
   * @param temperature in degrees Celsius, 0 if it is not known
   */
  public @Nullable Outcome outcome(int clockMhz, int temperature) {
    if (failure != null) {
      return failure;
    }
    return times == null || error == null
        ? null
        : new Outcome.Measured(
            times.micros(),
            times.burst().relativeSpread(),
            error.relative(),
            clockMhz,
            temperature);
  }

  public boolean verified() {
    return error != null && failure == null;
  }
}
