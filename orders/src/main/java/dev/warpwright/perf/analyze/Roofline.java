package dev.warpwright.perf.analyze;

import dev.warpwright.perf.predict.Part;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.workload.Precision;

/**
 * Where a part stands under a device's roofline.
 *
 * @param computeUs at the device's peak rate, one occurrence
 * @param memoryUs its least bytes at the device's bandwidth, one occurrence
 * @param ridge operations a byte at which both take the same time
 */
public record Roofline(DeviceModel device, double computeUs, double memoryUs, double ridge) {
  /** Of a part whose operands have this type. */
  public static Roofline of(Part part, Precision type, DeviceModel device) {
    double peak = type.peak(device);
    double bandwidth = device.dramGBs() * 1e9;
    return new Roofline(
        device, part.flops() / peak * 1e6, part.bytes() / bandwidth * 1e6, peak / bandwidth);
  }

  /** What one occurrence takes at least. */
  public double boundUs() {
    return Math.max(computeUs, memoryUs);
  }

  /** Whether bytes, not operations, decide. */
  public boolean memoryBound() {
    return memoryUs >= computeUs;
  }
}
