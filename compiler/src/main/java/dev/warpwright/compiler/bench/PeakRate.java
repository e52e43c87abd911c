package dev.warpwright.compiler.bench;

import dev.warpwright.ir.DType;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.target.GpuTarget;

/** What no kernel can exceed; a rate above it means that the measurement is wrong. */
final class PeakRate {
  private PeakRate() {}

  /**
   * Operations a second at the highest clock that the driver allows, which is more than data sheets
   * promise for tensor cores.
   *
   * @param operands type of the operands of products that are summed in f32
   */
  static double flops(CudaDevice device, GpuTarget target, DType operands) {
    return (double) device.multiprocessors()
        * device.clockKhz()
        * 1e3
        * perClock(device.major(), device.minor(), target, operands);
  }

  /** Operations of a multiprocessor in a clock, a multiply-add counting as two. */
  static int perClock(int major, int minor, GpuTarget target, DType operands) {
    return switch (operands) {
      case F16, BF16 ->
          switch (10 * major + minor) {
            case 75, 86, 87, 89 -> 1024;
            case 80 -> 2048;
            case 90 -> 4096;
            default -> 8192;
          };
      case F32 -> target.fp32PerClock();
      case F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
          throw new IllegalArgumentException("no rate for products of " + operands);
    };
  }
}
