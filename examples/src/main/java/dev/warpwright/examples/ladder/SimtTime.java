package dev.warpwright.examples.ladder;

import static dev.warpwright.examples.ladder.WarpNumber.BARRIER;
import static dev.warpwright.examples.ladder.WarpNumber.FMA_EFFICIENCY;
import static dev.warpwright.examples.ladder.WarpNumber.L2_BYTES;
import static dev.warpwright.examples.ladder.WarpNumber.LOAD;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.target.Calibration;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import java.util.Map;

/**
 * A time for a kernel of single threads, predicted from what a warp issues: the greatest of what
 * the schedulers, shared memory and the caches need, and of what is left of waiting if few warps
 * are resident, in whole waves of blocks.
 *
 * @param micros the time
 * @param bound what takes longest: {@code issue}, {@code shared}, {@code L1}, {@code L2} or {@code
 *     waiting}
 * @param blocksPerSm blocks resident on an SM
 * @param occupancy resident warps as a part of what an SM can hold
 * @param l2Bytes that cross from L2 to the SMs
 * @param dramBytes that cross from memory, if blocks of one wave share what they read
 */
record SimtTime(
    double micros,
    String bound,
    int blocksPerSm,
    double occupancy,
    double l2Bytes,
    double dramBytes) {
  /** Schedulers of an SM, each of which issues one instruction of a warp a clock. */
  private static final int SCHEDULERS = 4;

  /**
   * Predicts.
   *
   * @param kernel with constant extents
   * @param registers of a thread
   */
  public static SimtTime of(Kernel kernel, WarpProfile warp, DeviceModel device, int registers) {
    var fitted = Calibration.of(device).numbers("warps", WarpNumber.class);
    GpuTarget target = device.target();
    int threads = kernel.threadsPerBlock();
    double warps = Math.ceilDiv(threads, GpuTarget.WARP_SIZE);
    int fitting = target.blocksPerSm(threads, registers, KernelResources.of(kernel).sharedBytes());
    int resident = Math.max(1, fitting);
    double columns = extent(kernel, ThreadAxis.BLOCK_X);
    double rows = extent(kernel, ThreadAxis.BLOCK_Y);
    double blocks = rows * columns;
    double together = (double) resident * device.sms();
    double waves = Math.ceil(blocks / together);
    double perSm = Math.min(resident, Math.ceil(blocks / device.sms())) * warps;

    double fmaClocks = warp.multiplyAdds() * GpuTarget.WARP_SIZE * 2 / target.fp32PerClock();
    double issued = (warp.multiplyAdds() + 2 * warp.memoryInstructions()) / SCHEDULERS;
    double issue = perSm * Math.max(fmaClocks / fitted.at(FMA_EFFICIENCY), issued);
    double shared = perSm * warp.wavefronts();
    // The L1 looks one line up in a clock.
    double l1 = perSm * warp.lines();
    double l2 = perSm * warp.bytes() / fitted.at(L2_BYTES);
    double busy = Math.max(Math.max(issue, shared), Math.max(l1, l2));
    // Other blocks work while one waits at its barriers.
    double waiting =
        warp.waits() * fitted.at(LOAD) / resident + warp.barriers() * fitted.at(BARRIER) / resident;
    double clocks = busy + waiting;
    String bound =
        waiting > busy
            ? "waiting"
            : busy == issue ? "issue" : busy == shared ? "shared" : busy == l1 ? "L1" : "L2";
    double l2Bytes = blocks * warps * warp.bytes();
    return new SimtTime(
        waves * clocks / device.boostMhz(),
        bound,
        resident,
        resident * warps * GpuTarget.WARP_SIZE / target.threadsPerSm(),
        l2Bytes,
        Math.min(l2Bytes, dramBytes(kernel, rows, columns, together, waves)));
  }

  /** Each wave reads its rows of the first operand and its columns of the second one once. */
  private static double dramBytes(
      Kernel kernel, double rows, double columns, double together, double waves) {
    double bytes = 0;
    double least = 0;
    for (Buffer buffer : kernel.buffers()) {
      double size = (double) buffer.storageElements() * buffer.dtype().bytes();
      least += size;
      bytes += buffer == kernel.buffers().getLast() ? size : 0;
    }
    double waveColumns = Math.min(columns, together);
    double waveRows = Math.min(rows, Math.ceil(together / columns));
    for (int i = 0; i + 1 < Math.min(3, kernel.buffers().size()); i++) {
      Buffer operand = kernel.buffers().get(i);
      double size = (double) operand.storageElements() * operand.dtype().bytes();
      bytes += waves * size * (i == 0 ? waveRows / rows : waveColumns / columns);
    }
    return Math.max(least, bytes);
  }

  private static double extent(Kernel kernel, ThreadAxis axis) {
    return ScalarEval.eval(kernel.extent(axis), Map.of());
  }
}
