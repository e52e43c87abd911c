package dev.warpwright.space.record;

/** What became of a candidate. */
public sealed interface Outcome {
  /**
   * It computes the right thing, in this time.
   *
   * @param timeUs median of its time, in microseconds
   * @param spread what repeating the measurement changes, as a part of the time
   * @param relError ‖out − reference‖ / ‖reference‖
   * @param clockMhz clock of the SMs while it was measured; 0 if unknown
   * @param temperature of the device in °C; 0 if unknown
   */
  record Measured(double timeUs, double spread, double relError, int clockMhz, int temperature)
      implements Outcome {
    /** Checks that the time is positive and finite, and spread and error not negative. */
    public Measured {
      if (!(timeUs > 0) || Double.isInfinite(timeUs) || !(spread >= 0) || !(relError >= 0)) {
        throw new IllegalArgumentException(
            "no measurement: " + timeUs + " us ± " + spread + ", error " + relError);
      }
    }
  }

  /**
   * It has no time.
   *
   * @param reason by which failures are counted
   * @param message what happened, in one line
   */
  record Failed(FailureReason reason, String message) implements Outcome {}
}
