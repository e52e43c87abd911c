package dev.warpwright.measure;

import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Precision;

/** What no kernel can exceed; a rate above it means that the measurement is wrong. */
public final class PeakRate {
  private PeakRate() {}

  /**
   * Operations a second at the highest clock that the driver allows, which is more than data sheets
   * promise for tensor cores.
   *
   * @param precision in which products are computed
   */
  public static double flops(CudaDevice device, GpuTarget target, Precision precision) {
    return (double) device.sms()
        * device.clockKhz()
        * 1e3
        * perClock(device.major(), device.minor(), target, precision);
  }

  /** Operations of an SM in a clock, a multiply-add counting as two. */
  static int perClock(int major, int minor, GpuTarget target, Precision precision) {
    int cc = 10 * major + minor;
    int half =
        switch (cc) {
          case 75, 86, 87, 89 -> 1024;
          case 80 -> 2048;
          case 90 -> 4096;
          default -> 8192;
        };
    return switch (precision) {
      case F32 -> target.fp32PerClock();
      case F16, F16_ACCUMULATORS, BF16 -> half;
      case TF32 -> half / 2;
      case E4M3, E5M2, INT8, UINT8 -> 2 * half;
      // On tensor cores, where there are any for f64.
      case F64 -> cc == 90 ? 256 : cc == 80 ? 128 : half == 8192 ? 256 : 4;
    };
  }
}
