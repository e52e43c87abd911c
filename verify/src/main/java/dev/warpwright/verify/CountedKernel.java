package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.predict.CounterTime;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.KernelResources;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What a kernel has on a device: its caches, its blocks, and how long its counters take. */
final class CountedKernel {
  private static final long RESERVED = 1 << 10;

  /** L1 and shared memory of an SM of compute capability 9.0 together. */
  private static final long FIRST_LEVEL = 256 << 10;

  private static final List<Long> CARVE_OUTS =
      Stream.of(0L, 8L, 16L, 32L, 64L, 100L, 132L, 164L, 196L, 228L).map(k -> k << 10).toList();

  private CountedKernel() {}

  /**
   * L1: what as many blocks as fit leave of it as shared memory, as the driver divides it. L2: the
   * half that serves an SM.
   */
  static KernelCounters.Caches caches(Kernel kernel, int sms, DeviceModel device) {
    int bytes = KernelResources.of(kernel).sharedBytes();
    int fitting =
        device
            .target()
            .blocksPerSm(
                kernel.threadsPerBlock(), KernelRegisters.of(kernel, device.target()), bytes);
    return caches(fitting, bytes, sms, device);
  }

  /** The same where so many blocks of so many bytes of shared memory fit. */
  static KernelCounters.Caches caches(int fitting, int bytes, int sms, DeviceModel device) {
    long shared = Math.max(1, fitting) * (bytes + RESERVED);
    long carved = CARVE_OUTS.stream().filter(c -> c >= shared).findFirst().orElse(FIRST_LEVEL);
    return new KernelCounters.Caches(
        Math.max(FIRST_LEVEL - carved, RESERVED), device.l2Bytes() / 2, sms);
  }

  /** Instructions, which are read from memory once; 0 where no compiler is installed. */
  static double codeBytes(Kernel kernel, DeviceModel device) {
    return CudaCompilers.system()
        .map(
            compiler ->
                CudaCompilers.compile(CudaPrinter.print(kernel, device.target()), device.target())
                    .codeBytes(CudaPrinter.functionName(kernel)))
        .orElse(0L);
  }

  /** Blocks that the kernel wants on an SM. */
  static int resident(Kernel kernel) {
    return (int) Math.max(1, kernel.attrs().getLong("minBlocks", 1));
  }

  static long blocks(Kernel kernel, ThreadAxis axis) {
    return ScalarEval.eval(kernel.extent(axis), Map.of());
  }

  static CounterTime time(
      CountedLaunch counted,
      double matrixRate,
      double leastBytes,
      double busy,
      DeviceModel device) {
    double shared = counted.total("sharedLoadWavefronts") + counted.total("sharedStoreWavefronts");
    double read = counted.total("l2ToL1Bytes") - counted.total("multicastBytes");
    double l2 = read + counted.total("l2WriteBytes");
    return CounterTime.of(
        new CounterTime.Work(
            counted.total("multiplyAdds"),
            counted.total("matrixMultiplyAdds"),
            matrixRate,
            shared,
            l2,
            Math.max(counted.total("dramReadBytes"), leastBytes)),
        busy,
        device);
  }

  /** The largest value of a scalar for which there are no more blocks than for 1. */
  static long extent(Kernel kernel, Map<String, Long> values, String name) {
    Map<Var, Long> scalars = new HashMap<>();
    kernel.scalars().forEach(s -> scalars.put(s.var(), values.getOrDefault(s.name(), 1L)));
    Var v =
        kernel.scalars().stream()
            .filter(s -> s.name().equals(name))
            .findFirst()
            .orElseThrow(() -> new UserError(kernel.name() + " has no scalar " + name))
            .var();
    scalars.put(v, 1L);
    long least = blocks(kernel, scalars);
    long size = 1;
    for (; size <= 1024; size++) {
      scalars.put(v, size + 1);
      if (blocks(kernel, scalars) > least) {
        break;
      }
    }
    return size;
  }

  static long blocks(Kernel kernel, Map<Var, Long> scalars) {
    long blocks = 1;
    for (ThreadAxis axis : ThreadAxis.values()) {
      if (axis.isBlock()) {
        blocks *= ScalarEval.eval(kernel.extent(axis), scalars);
      }
    }
    return blocks;
  }
}
