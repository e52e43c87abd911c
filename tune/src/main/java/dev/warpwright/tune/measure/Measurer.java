package dev.warpwright.tune.measure;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Outcome;
import java.util.Optional;
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

  /** A candidate whose turn on the device has not come. */
  @FunctionalInterface
  interface Ahead {
    /**
     * Goes on with it, as {@link Measurer#measure} does.
     *
     * @return its outcome
     */
    CompletableFuture<Trial> measure();
  }

  /**
   * Builds and compiles a candidate of a search that waits for its turn, and runs nothing of it:
   * what is measured meanwhile has the device for itself.
   *
   * @param candidate to be measured later
   * @return goes on with it; where nothing can be done before, that does all
   */
  default Ahead ahead(Candidate candidate) {
    return () -> measure(candidate);
  }

  /**
   * Says that candidates of a workload will be measured: what all of them need, such as the kernels
   * that verify results, may be made ready without a device.
   *
   * @param first any candidate of the workload
   */
  default void prepare(Candidate first) {}

  /** Begins to start what a first candidate would have to wait for. */
  default void open() {}

  /** {@return where the time went; empty if it is not kept} */
  default Optional<MeasuringTimes> times() {
    return Optional.empty();
  }

  /** {@return how many candidates should be under way for everything to be busy} */
  int width();

  /** Ends what is under way. */
  @Override
  void close();
}
