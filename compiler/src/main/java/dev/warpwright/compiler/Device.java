package dev.warpwright.compiler;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.ProductKernels;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/** Where programs run. */
public sealed interface Device extends AutoCloseable
    permits CpuDevice, GpuDevice, OfflineGpu, SimulatedDevice {
  /** The GPU if there is one, else the CPU. */
  static Device best() {
    return Gpu.find().<Device>map(GpuDevice::new).orElseGet(CpuDevice::new);
  }

  /** For people, for example {@code NVIDIA H200 (sm_90a)}. */
  String name();

  Target target();

  /** Puts a program that was compiled for {@link #target()} on the device. */
  Executable load(CompiledProgram program, ConstantStore constants);

  /**
   * Refuses a precision that the device cannot compute in.
   *
   * @throws dev.warpwright.base.UserError if so
   */
  void checkPrecision(Precision precision);

  /**
   * The kernels for products of networks that are too wide for one kernel; to be closed. Null if
   * the device takes none.
   */
  @Nullable ProductKernels products();

  /**
   * The name of the way to make a network one kernel that was fastest when it was measured on such
   * a device; null if none was, or there is but one.
   *
   * @param network see {@link dev.warpwright.compiler.program.NetworkKey}
   */
  @Nullable String preferred(WorkloadKey network);

  /**
   * The CUDA C++ of a program.
   *
   * @throws dev.warpwright.base.UserError if the device runs no CUDA
   */
  String cudaSource(CompiledProgram program);

  @Override
  void close();
}
