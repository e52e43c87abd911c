package dev.warpwright.perf.predict;

import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;

/** What was fitted of how tiles use L2. */
public enum L2Number {
  /** Of the cache. */
  USED_PART,
  DRIFT,
  DRIFT_PERSISTENT,

  /** The longest K of what was measured. */
  LONGEST,

  /**
   * The part of a half's first reads of what the other half has that count as misses; the others
   * find it under way. Fitted to the hit rates of the same counters.
   */
  ACROSS;

  /** Of a device. */
  public static Calibration.Numbers<L2Number> of(DeviceModel device) {
    return Calibration.of(device).numbers("l2", L2Number.class);
  }

  /** Bytes of L2 that count. */
  public static long capacity(DeviceModel device) {
    return (long) (of(device).at(USED_PART) * device.l2Bytes());
  }
}
