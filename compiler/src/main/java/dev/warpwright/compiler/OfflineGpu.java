package dev.warpwright.compiler;

import dev.warpwright.base.DeviceError;
import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/**
 * A GPU that is not here: programs can be compiled for it, and no more.
 *
 * @param gpu the GPU, real or as it would be
 */
public record OfflineGpu(GpuTarget gpu) implements Device {
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

  @Override
  public @Nullable String preferred(WorkloadKey network) {
    return NetworkRecords.best(network, gpu, "");
  }
}
