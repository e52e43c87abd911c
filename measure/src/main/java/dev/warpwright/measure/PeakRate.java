package dev.warpwright.measure;

import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Arithmetic;

/** What no kernel can exceed; a rate above it means that the measurement is wrong. */
final class PeakRate {
  private PeakRate() {}

  /**
   * Operations a second at the highest clock that the driver allows, which is more than data sheets
   * promise for tensor cores.
   *
   * @param operands type of the operands of products
   * @param arithmetic what they are computed in
   */
  static double flops(CudaDevice device, GpuTarget target, DType operands, Arithmetic arithmetic) {
    return (double) device.multiprocessors()
        * device.clockKhz()
        * 1e3
        * perClock(device.major(), device.minor(), target, operands, arithmetic);
  }

  /** Operations of a multiprocessor in a clock, a multiply-add counting as two. */
  static int perClock(
      int major, int minor, GpuTarget target, DType operands, Arithmetic arithmetic) {
    int cc = 10 * major + minor;
    int half =
        switch (cc) {
          case 75, 86, 87, 89 -> 1024;
          case 80 -> 2048;
          case 90 -> 4096;
          default -> 8192;
        };
    return switch (arithmetic) {
      case F32 ->
          operands == DType.F32 ? target.fp32PerClock() : operands.bytes() == 1 ? 2 * half : half;
      case F16 -> half;
      case TF32 -> half / 2;
      case I32 -> 2 * half;
      // On tensor cores, where there are any for f64.
      case F64 -> cc == 90 ? 256 : cc == 80 ? 128 : half == 8192 ? 256 : 4;
    };
  }
}
