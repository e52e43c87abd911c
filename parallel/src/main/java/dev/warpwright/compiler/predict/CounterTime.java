package dev.warpwright.compiler.predict;

import static dev.warpwright.perf.UnitNumber.L2_BYTES_PER_CLOCK;
import static dev.warpwright.perf.UnitNumber.OVERLAP;
import static dev.warpwright.perf.UnitNumber.REACHED;

import dev.warpwright.perf.UnitNumber;
import dev.warpwright.target.DeviceModel;

/**
 * A time that follows from a kernel's counters: what each unit needs for its work if it is busy all
 * the time, the longest of which hides most of the others, on the SMs that have work. Latency that
 * nothing hides is not in it, so kernels with little work take longer.
 *
 * @param micros the time
 * @param bound the unit that needs longest: {@code fma}, {@code tensor}, {@code shared}, {@code L2}
 *     or {@code DRAM}
 */
public record CounterTime(double micros, String bound) {
  private static final double KILO = 1e3;

  /**
   * Counters of a launch.
   *
   * @param multiplyAdds of threads
   * @param matrixMultiplyAdds of tensor cores
   * @param matrixTflops the rate of tensor cores on these operands, in 10¹² operations a second
   * @param wavefronts of shared memory
   * @param l2Bytes that SMs read from L2 and write to it
   * @param dramBytes read and written
   */
  public record Work(
      double multiplyAdds,
      double matrixMultiplyAdds,
      double matrixTflops,
      double wavefronts,
      double l2Bytes,
      double dramBytes) {}

  /**
   * Predicts.
   *
   * @param busy the part of the SMs' time in which they have blocks, above 0, at most 1
   */
  public static CounterTime of(Work work, double busy, DeviceModel device) {
    double clocks = device.boostMhz() * (double) device.sms() * busy;
    var units = UnitNumber.of(device);
    String[] names = {"fma", "tensor", "shared", "L2", "DRAM"};
    double[] micros = {
      work.multiplyAdds / (fmasPerClock(device) * clocks * units.at(REACHED)),
      work.matrixMultiplyAdds == 0
          ? 0
          : 2 * work.matrixMultiplyAdds / (work.matrixTflops * 1e6 * units.at(REACHED) * busy),
      work.wavefronts / clocks,
      work.l2Bytes / (units.at(L2_BYTES_PER_CLOCK) * clocks),
      work.dramBytes / (device.dramGBs() * KILO * units.at(REACHED))
    };
    double sum = 0;
    int longest = 0;
    for (int i = 0; i < micros.length; i++) {
      sum += Math.pow(micros[i], units.at(OVERLAP));
      longest = micros[i] > micros[longest] ? i : longest;
    }
    return new CounterTime(Math.pow(sum, 1 / units.at(OVERLAP)), names[longest]);
  }

  /** Fused multiply-adds of f32 that an SM starts in a clock: 128, or 64 on some. */
  private static double fmasPerClock(DeviceModel device) {
    double all = device.fp32Tflops() * 1e6 / 2 / device.boostMhz();
    return Math.rint(all / device.sms());
  }
}
