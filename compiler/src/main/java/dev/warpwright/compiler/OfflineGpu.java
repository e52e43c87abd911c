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
    throw new DeviceError("no GPU here runs " + gpu.name() + "; use --target auto or cpu");
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    throw new DeviceError("no GPU here runs " + gpu.name() + "; use --target auto or cpu");
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
