package dev.warpwright.tune.measure;

import dev.warpwright.ir.Kernel;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Outcome;
import java.util.Map;

/** What a worker process does with kernels. Used by one thread. */
public interface CandidateRunner {
  /**
   * Compiles, so that {@link #time}, in this process or another, need not.
   *
   * @return SHA-256 of the printed source in hexadecimal
   */
  String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure;

  /** Verifies on random data, and times. */
  Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure;
}
