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
   * @param sourceHash SHA-256 of the printed kernel in hexadecimal; empty if it was not printed
   */
  record Trial(Candidate candidate, String sourceHash, Outcome outcome) {}

  /** Begins; the promise is never broken by an exception that the candidate caused. */
  CompletableFuture<Trial> measure(Candidate candidate);

  /** How many candidates should be under way for everything to be busy. */
  int width();

  /** Ends what is under way. */
  @Override
  void close();
}
