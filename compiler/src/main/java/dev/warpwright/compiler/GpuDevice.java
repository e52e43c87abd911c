package dev.warpwright.compiler;

import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.CudaExecutable;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.Environment;
import dev.warpwright.target.Target;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/** An NVIDIA GPU. */
public final class GpuDevice implements Device {
  private final Gpu gpu;

  /**
   * A device that closes the GPU with itself.
   *
   * @param gpu the GPU, real or as it would be
   */
  public GpuDevice(Gpu gpu) {
    this.gpu = gpu;
  }

  @Override
  public String name() {
    return gpu.name();
  }

  @Override
  public Target target() {
    return gpu.target();
  }

  @Override
  public DeviceBuffer allocate(DType type, long elements) {
    return DeviceBuffer.onGpu(gpu.context(), type, elements);
  }

  @Override
  public DeviceStream newStream() {
    return DeviceStream.onGpu(gpu.context());
  }

  /**
   * {@return a stream that another library made, whose work calls are ordered with; it stays open
   * as long as the one returned, and is not destroyed with it}
   *
   * @param handle its {@code CUstream} or {@code cudaStream_t}, of this GPU's primary context
   * @throws dev.warpwright.base.UserError if it is 0, the default stream
   */
  public DeviceStream stream(long handle) {
    return DeviceStream.onGpu(gpu.context(), handle);
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    return new CudaExecutable(
        program,
        constants,
        gpu.context(),
        CudaCompilers.compile(cudaSource(program), gpu.target()));
  }

  @Override
  public GemmKernels products() {
    // Which compiler this is, is not asked: it would have to be loaded.
    return GemmKernels.of(
            gpu.target(),
            new Environment(
                gpu.target().name(), gpu.device().name(), gpu.device().driver(), "", ""),
            gpu.device().sms())
        .trusting();
  }

  @Override
  public @Nullable String preferred(WorkloadKey network) {
    return NetworkRecords.best(network, gpu.target(), gpu.device().name());
  }

  /** What is compiled here is what {@link #load} finds in the cache. */
  @Override
  public int spills(Kernel kernel) {
    Cubin cubin = CudaCompilers.compile(CudaPrinter.print(kernel, gpu.target()), gpu.target());
    return CompiledCheck.spills(kernel, cubin);
  }

  @Override
  public void close() {
    gpu.close();
  }
}
