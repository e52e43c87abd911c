package dev.warpwright.tune.measure;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Outcome;
import java.util.concurrent.CompletableFuture;

/**
 * Builds, compiles, verifies and times candidates, several at once.
 *
 * <p>An implementation decides where: in child processes on this machine, or on many machines. It
 * may not let a candidate harm another one, and completes every promise, in bounded time.
 */
public interface Measurer extends AutoCloseable {
  /**
   * A candidate's outcome.
   *
   * @param candidate that was tried
   * @param sourceHash SHA-256 of the printed kernel in hexadecimal; empty if it was not printed
   * @param outcome its time, or why it has none
   */
  record Trial(Candidate candidate, String sourceHash, Outcome outcome) {}

  /**
   * Begins to measure a candidate.
   *
   * @param candidate to be built, compiled, verified and timed
   * @return its outcome; never broken by an exception that the candidate caused
   */
  CompletableFuture<Trial> measure(Candidate candidate);

  /** {@return how many candidates should be under way for everything to be busy} */
  int width();

  /** Ends what is under way. */
  @Override
  void close();
}
