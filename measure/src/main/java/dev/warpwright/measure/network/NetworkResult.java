package dev.warpwright.measure.network;

import dev.warpwright.tune.measure.Outcome;
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

  public boolean verified() {
    return error != null && failure == null;
  }
}
