package dev.warpwright.compiler;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
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
   * Memory on the device, for inputs and outputs that stay there.
   *
   * @param type {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
   * @param elements how many, 0 or more
   * @throws UserError if models take no such type, or there is not so much
   */
  DeviceBuffer allocate(DType type, long elements);

  /**
   * Refuses a precision that the device cannot compute in.
   *
   * @throws UserError if so
   */
  default void checkPrecision(Precision precision) {
    if (target() instanceof GpuTarget gpu) {
      precision.check(gpu);
    } else if (precision == Precision.TF32) {
      throw new UserError("precision tf32 exists on GPUs only; use f32, f16 or bf16 on the CPU");
    }
  }

  /**
   * The kernels for products of networks that are too wide for one kernel; to be closed. Null if
   * the device takes none.
   */
  @Nullable GemmKernels products();

  /**
   * The name of the way to make a network one kernel that was fastest when it was measured on such
   * a device; null if none was, or there is but one.
   *
   * @param network see {@link dev.warpwright.compiler.records.NetworkKey}
   */
  @Nullable String preferred(WorkloadKey network);

  /**
   * Whether a kernel compiles for the device to what it is meant to be, without spilled registers
   * or serialised products; true where nothing can be asked.
   */
  default boolean isFast(Kernel kernel) {
    return true;
  }

  /**
   * The CUDA C++ of a program.
   *
   * @throws UserError if the device runs no CUDA
   */
  default String cudaSource(CompiledProgram program) {
    if (target() instanceof GpuTarget gpu) {
      return CudaPrinter.print(program.program(), gpu);
    }
    throw new UserError("the CPU runs bytecode, not CUDA; name a GPU target such as sm_90a");
  }

  @Override
  default void close() {}
}
