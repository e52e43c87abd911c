package dev.warpwright.compiler;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.DeviceStream;
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
  /** {@return the GPU if there is one, else the CPU} */
  static Device best() {
    return Gpu.find().<Device>map(GpuDevice::new).orElseGet(CpuDevice::new);
  }

  /** {@return its name for people, for example {@code NVIDIA H200 (sm_90a)}} */
  String name();

  /** {@return what programs are compiled for} */
  Target target();

  /**
   * {@return a program that was compiled for {@link #target()}, on the device}
   *
   * @param program compiled for the device
   * @param constants the weights, which programs share
   */
  Executable load(CompiledProgram program, ConstantStore constants);

  /**
   * {@return memory on the device, for inputs and outputs that stay there}
   *
   * @param type {@link DType#F32}, {@link DType#F16} or {@link DType#BF16}
   * @param elements how many, 0 or more
   * @throws UserError if models take no such type, or there is not so much
   */
  DeviceBuffer allocate(DType type, long elements);

  /**
   * {@return a stream, on which calls are made in order while the caller goes on, to be closed; on
   * other devices than GPUs a call is done when it returns}
   */
  default DeviceStream newStream() {
    return DeviceStream.onHost();
  }

  /**
   * Refuses a precision that the device cannot compute in.
   *
   * @param precision what is computed in
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
   * {@return the kernels for products of networks that are too wide for one kernel, to be closed;
   * null if the device takes none}
   */
  @Nullable GemmKernels products();

  /**
   * {@return the name of the way to make a network one kernel that was fastest when it was measured
   * on such a device; null if none was, or there is but one}
   *
   * @param network see {@link dev.warpwright.compiler.records.NetworkKey}
   */
  @Nullable String preferred(WorkloadKey network);

  /**
   * {@return 0 if a kernel compiles for the device to what it is meant to be, or nothing can be
   * asked; else the bytes of registers that it spills, and two kibibytes more where its matrix
   * instructions wait for each other}
   *
   * @param kernel of the program
   */
  default int spills(Kernel kernel) {
    return 0;
  }

  /**
   * {@return the CUDA C++ of a program}
   *
   * @param program compiled for the device
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
