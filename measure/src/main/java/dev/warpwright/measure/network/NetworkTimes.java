package dev.warpwright.measure.network;

import dev.warpwright.measure.timing.Quantiles;

/**
 * How long a launch of a network takes, in microseconds.
 *
 * @param burst in short bursts after a rest, as of a device that serves requests
 * @param sustained without rest, when the device has come to the clock that its power allows; NaN
 *     if it was not measured
 */
public record NetworkTimes(Quantiles burst, double sustained) {
  /** The median of the bursts. */
  public double micros() {
    return burst.median();
  }
}
