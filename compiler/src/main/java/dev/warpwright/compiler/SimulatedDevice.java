package dev.warpwright.compiler;

import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.execute.SimulatedExecutable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/**
 * A GPU played by the interpreter of grid kernels: slow, and it checks every access.
 *
 * @param gpu the GPU, real or as it would be
 */
public record SimulatedDevice(GpuTarget gpu) implements Device {
  @Override
  public String name() {
    return "simulated " + gpu.name();
  }

  @Override
  public Target target() {
    return gpu;
  }

  @Override
  public DeviceBuffer allocate(DType type, long elements) {
    return DeviceBuffer.onHost(type, elements);
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    return new SimulatedExecutable(program);
  }

  @Override
  public GemmKernels products() {
    return GemmKernels.uncompiled(gpu);
  }

  @Override
  public @Nullable String preferred(WorkloadKey network) {
    return null;
  }
}
