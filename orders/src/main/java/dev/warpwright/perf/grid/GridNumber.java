package dev.warpwright.perf.grid;

import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;

/** What was fitted of kernels that are played in time, to single GEMMs in orders of their tiles. */
public enum GridNumber {
  /** By so much more or less than they should, tiles take. */
  UNEVEN,

  /** The same on the most uneven card that was measured. */
  UNEVEN_AT_MOST,

  /** By so much more, steps take whose operands all come from device memory. */
  FETCHING,

  /** What copies of 16 bytes cost of those that the time model of mma.sync is fitted to. */
  COPYING;

  /** Of a device. */
  public static Calibration.Numbers<GridNumber> of(DeviceModel device) {
    return Calibration.of(device).numbers("grid", GridNumber.class);
  }
}
