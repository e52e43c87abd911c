package dev.warpwright.cost;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.Map;

/**
 * A time for a kernel of single threads, predicted from what a warp issues: the greatest of what the
 * schedulers, shared memory, the first-level cache and the second-level cache need, and of what waiting
 * leaves if few warps are resident, in whole waves of blocks.
 *
 * @param micros the time
 * @param bound what takes longest: {@code issue}, {@code shared}, {@code L1}, {@code L2}, {@code
 *     latency}
 * @param blocksPerSm blocks resident on a multiprocessor
 * @param occupancy resident warps as a part of what a multiprocessor can hold
 * @param l2Bytes that cross from the second-level cache to the multiprocessors
 */
public record SimtTime(
    double micros, String bound, int blocksPerSm, double occupancy, double l2Bytes) {
  /** Schedulers of a multiprocessor, each of which issues one instruction of a warp a clock. */
  private static final int SCHEDULERS = 4;

  /** Sectors that a first-level cache delivers in a clock. */
  private static final double L1_SECTORS = 4;

  /** Bytes that a multiprocessor gets from the second-level cache in a clock. */
  private static final double L2_BYTES = 48;

  /** Clocks between a load and its use, in shared and in global memory. */
  private static final double SHARED_LATENCY = 30;

  private static final double GLOBAL_LATENCY = 600;
  private static final double BARRIER = 40;

  /**
   * Predicts.
   *
   * @param registers of a thread
   * @param ahead whether loads from global memory are issued long before they are used
   */
  public static SimtTime of(
      Kernel kernel, WarpProfile warp, DeviceModel device, int registers, boolean ahead) {
    GpuTarget target = device.target();
    int threads = kernel.threadsPerBlock();
    double warps = Math.ceilDiv(threads, GpuTarget.WARP_SIZE);
    int resident =
        Math.max(
            1, target.blocksPerSm(threads, registers, KernelResources.of(kernel).sharedBytes()));
    double blocks = 1;
    for (ThreadAxis axis : ThreadAxis.values()) {
      blocks *= axis.isBlock() ? ScalarEval.eval(kernel.extent(axis), Map.of()) : 1;
    }
    double waves = Math.ceil(blocks / ((double) resident * device.multiprocessors()));
    double perSm = Math.min(resident, Math.ceil(blocks / device.multiprocessors())) * warps;
    double fmaRate = target.fp32PerClock() / 2.0 / GpuTarget.WARP_SIZE;

    double overhead = 0.06 * warp.multiplyAdds() + 2 * warp.memoryInstructions();
    double issue =
        perSm
            * Math.max(
                warp.multiplyAdds() / fmaRate,
                (warp.multiplyAdds() + overhead) / SCHEDULERS);
    double shared = perSm * warp.wavefronts();
    double l1 = perSm * warp.sectors() / L1_SECTORS;
    double l2 = perSm * warp.bytes() / L2_BYTES;
    double waits = warp.barriers() * (BARRIER + (ahead ? 0 : GLOBAL_LATENCY) / resident);
    double latency =
        waits + (warp.multiplyAdds() + warp.memoryInstructions()) * SCHEDULERS / 4.0
            + (ahead ? 0 : warp.wavefronts() * SHARED_LATENCY / Math.max(perSm, 1));
    latency = Math.max(latency, issue + 0.5 * waits);
    double clocks = Math.max(Math.max(issue, shared), Math.max(Math.max(l1, l2), latency));
    String bound =
        clocks == l1
            ? "L1"
            : clocks == l2 ? "L2" : clocks == shared ? "shared" : clocks == issue ? "issue" : "latency";
    return new SimtTime(
        waves * clocks / device.boostMhz(),
        bound,
        resident,
        resident * warps * GpuTarget.WARP_SIZE / target.threadsPerSm(),
        blocks * warps * warp.bytes());
  }
}
