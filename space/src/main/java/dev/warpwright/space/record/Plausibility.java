package dev.warpwright.space.record;

import java.util.Optional;

/**
 * Whether a record can have been measured. A database is what choices and models are made of, so
 * what somebody made up, be it to give a search a hint, has no place in it.
 */
public final class Plausibility {
  private static final double LONGEST_US = 60e6;
  private static final double MOST_SPREAD = 2;
  private static final int HIGHEST_MHZ = 5000;
  private static final int HOTTEST = 130;

  private Plausibility() {}

  /**
   * {@return why a record cannot be true; empty if it can}
   *
   * @param record from a file or a user
   */
  public static Optional<String> problem(TuningRecord record) {
    Environment environment = record.environment();
    if (environment.target().isBlank() || environment.device().isBlank()) {
      return Optional.of("it names no target or no device");
    }
    String hash = record.sourceHash();
    if (!hash.isEmpty() && hash.chars().allMatch(digit -> digit == '0')) {
      return Optional.of("the hash of its source is zero");
    }
    if (!(record.outcome() instanceof Outcome.Measured measured)) {
      return Optional.empty();
    }
    if (hash.isEmpty()) {
      return Optional.of("a time without the hash of its source");
    }
    if (measured.timeUs() > LONGEST_US) {
      return Optional.of("a kernel of " + measured.timeUs() + " us");
    }
    if (measured.spread() > MOST_SPREAD) {
      return Optional.of("a time that is uncertain by " + measured.spread() + " of it");
    }
    if (measured.relError() >= 1) {
      return Optional.of("a result that is wrong by " + measured.relError());
    }
    return measured.clockMhz() < 0
            || measured.clockMhz() > HIGHEST_MHZ
            || measured.temperature() < 0
            || measured.temperature() > HOTTEST
        ? Optional.of(measured.clockMhz() + " MHz at " + measured.temperature() + " degrees")
        : Optional.empty();
  }
}
