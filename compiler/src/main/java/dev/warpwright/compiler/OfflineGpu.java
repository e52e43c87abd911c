package dev.warpwright.compiler;

import dev.warpwright.base.DeviceError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/**
 * A GPU that is not here: programs can be compiled for it, and no more.
 *
 * @param gpu the GPU, real or as it would be
 * @param isChecked whether kernels to choose from are compiled, where there is a compiler of CUDA,
 *     until one does not spill: what takes seconds for each
 */
public record OfflineGpu(GpuTarget gpu, boolean isChecked) implements Device {
  /**
   * A GPU whose kernels are the first choices.
   *
   * @param gpu the GPU, real or as it would be
   */
  public OfflineGpu(GpuTarget gpu) {
    this(gpu, false);
  }

  @Override
  public String name() {
    return gpu.name() + " (not here)";
  }

  @Override
  public Target target() {
    return gpu;
  }

  @Override
  public DeviceBuffer allocate(DType type, long elements) {
    throw notHere();
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    throw notHere();
  }

  private DeviceError notHere() {
    return new DeviceError(
        "an OfflineGpu compiles for "
            + gpu.name()
            + " and runs nothing; Device.best() and new CpuDevice() do");
  }

  @Override
  public GemmKernels products() {
    return GemmKernels.of(gpu);
  }

  /** What is compiled here stays in the cache. */
  @Override
  public int spills(Kernel kernel) {
    if (!isChecked || CudaCompilers.system().isEmpty()) {
      return 0;
    }
    try {
      return CompiledCheck.spills(
          kernel, CudaCompilers.compile(CudaPrinter.print(kernel, gpu), gpu));
    } catch (CompileError e) {
      return Integer.MAX_VALUE;
    } catch (DeviceError e) {
      // A compiler that does not work says nothing of the kernel.
      return 0;
    }
  }

  @Override
  public @Nullable String preferred(WorkloadKey network) {
    return NetworkRecords.best(network, gpu, "");
  }
}
