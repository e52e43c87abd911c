package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Outcome;
import java.util.Map;

/** What a worker process does with kernels. Used by one thread, {@link #ready} by two. */
public interface CandidateRunner {
  /**
   * Compiles, so that {@link #time}, in this process or another, need not.
   *
   * @param kernel for a grid
   * @param values of its scalar parameters, by name
   * @return SHA-256 of the printed source in hexadecimal
   * @throws CandidateFailure if it does not compile, or uses more than it may
   */
  String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure;

  /**
   * Verifies a kernel on random data, and times it.
   *
   * @param kernel for a grid
   * @param values of its scalar parameters, by name
   * @return its time and error
   * @throws CandidateFailure if it is wrong, faults, or takes too long
   */
  Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure;

  /** A candidate whose kernel has been read and whose machine code is at hand. */
  @FunctionalInterface
  interface Ready {
    /**
     * Verifies and times it.
     *
     * @return its time and error
     * @throws CandidateFailure if it is wrong, faults, or takes too long
     */
    Outcome.Measured time() throws CandidateFailure;
  }

  /**
   * What of {@link #time} needs no device. Another thread may do it for the next kernel while one
   * is timed.
   *
   * @param kernel for a grid
   * @param values of its scalar parameters, by name
   * @return to be timed by the thread that calls {@link #time}
   * @throws CandidateFailure if it does not compile, or uses more than it may
   */
  default Ready ready(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    return () -> time(kernel, values);
  }

  /**
   * Compiles what {@link #time} needs beside the kernel, for all kernels of the same workload, so
   * that it finds that compiled.
   *
   * @param kernel any of the workload
   * @param values of its scalar parameters, by name
   * @throws CandidateFailure if that does not compile
   */
  default void prepare(Kernel kernel, Map<String, Long> values) throws CandidateFailure {}

  /** Opens the device that {@link #time} runs on, which the first call of that does otherwise. */
  default void open() {}

  /** Loads what {@link #compile} needs, which the first call of that does otherwise. */
  default void load() {}

  /** {@return where the time of the last call of {@link #time} went} */
  default Phases phases() {
    return Phases.NONE;
  }
}
