package dev.warpwright.verify;

import dev.warpwright.compiler.predict.CounterTime;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.KernelResources;
import java.util.List;
import java.util.Map;

/**
 * How long a kernel may take, from what one of its blocks asks of the memories: the simulator
 * counts the first block, and all others are taken to ask for as much. Good enough to tell
 * schedules of one function apart where there is no GPU; what L2 cannot hold and blocks read again
 * is not seen.
 *
 * @param micros the time
 * @param bound the unit that needs longest, as {@link CounterTime} calls it; {@code L1} where loads
 *     of an SM take longer, {@code latency} where those of a warp do, one after the other
 */
public record SampledPrediction(double micros, String bound) {
  /** Clocks that a warp waits for a load, where some four are under way: L1 answers after 33. */
  private static final double CLOCKS = 8;

  private static final int WARP = 32;

  /** L1 and shared memory give an SM 128 bytes a clock. */
  private static final int SECTORS_OF_WAVEFRONT = 4;

  /**
   * Predicts.
   *
   * @param kernel of blocks that are alike, without scalars
   * @param arguments of the kernel; outputs are written
   * @throws dev.warpwright.sim.api.SimulationError if the first block does what it must not
   */
  public static SampledPrediction of(Kernel kernel, Arguments arguments, DeviceModel device) {
    long blocks = 1;
    for (ThreadBinding binding : kernel.bindings()) {
      blocks *= binding.axis().isBlock() ? ScalarEval.eval(binding.extent(), Map.of()) : 1;
    }
    int bytesShared = KernelResources.of(kernel).sharedBytes();
    int fitting =
        device
            .target()
            .blocksPerSm(kernel.threadsPerBlock(), KernelRegisters.estimate(kernel), bytesShared);
    CountedLaunch one =
        CountedLaunch.of(
            new GridInterpreter(first(kernel), GridOptions.counting(1))
                .count(
                    arguments, CountedKernel.caches(fitting, bytesShared, device.sms(), device)));
    double bytes = 0;
    for (Buffer buffer : kernel.buffers()) {
      bytes += arguments.storageBytes(buffer);
    }
    CountedLaunch all = one.times(blocks, one, 0).with("dramReadBytes", bytes);
    double units = Math.ceilDiv(blocks, (long) device.sms()) * (double) device.sms();
    CounterTime time = CountedKernel.time(all, device.fp32Tflops(), bytes, blocks / units, device);
    double loads =
        Math.max(
                one.total("globalLoadRequests"),
                one.total("globalLoadSectors") / SECTORS_OF_WAVEFRONT)
            + one.total("sharedLoadWavefronts");
    double passing = loads * blocks / (blocks / units * device.sms() * device.boostMhz());
    double warps = Math.ceil(kernel.threadsPerBlock() / (double) WARP);
    long waves = Math.ceilDiv(blocks, (long) device.sms() * Math.max(1, fitting));
    double waiting = loads / warps * CLOCKS * waves / device.boostMhz();
    double longest = Math.max(time.micros(), Math.max(passing, waiting));
    return new SampledPrediction(
        longest, longest == time.micros() ? time.bound() : longest == passing ? "L1" : "latency");
  }

  /** The same kernel with one block only. */
  private static Kernel first(Kernel kernel) {
    List<ThreadBinding> bindings =
        kernel.bindings().stream()
            .map(
                binding ->
                    binding.axis().isBlock()
                        ? new ThreadBinding(binding.axis(), binding.var(), Exprs.i32(1))
                        : binding)
            .toList();
    return new Kernel(
        kernel.name(), kernel.kind(), kernel.params(), bindings, kernel.body(), kernel.attrs());
  }
}
