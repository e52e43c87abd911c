package dev.warpwright.perf;

import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;

/** What units of a device reach, of kernels in general. */
public enum UnitNumber {
  /** What bandwidth and rate kernels reach of what data sheets say. */
  REACHED,

  /** The part of the SMs that it takes to draw all of the bandwidth. */
  DRAWING,

  /** Bytes that an SM gets from L2 in a clock, sustained. */
  L2_BYTES_PER_CLOCK,

  /** How sharply the longest of overlapping times decides: a norm's exponent. */
  OVERLAP;

  /** Of a device. */
  public static Calibration.Numbers<UnitNumber> of(DeviceModel device) {
    return Calibration.of(device).numbers("units", UnitNumber.class);
  }
}
