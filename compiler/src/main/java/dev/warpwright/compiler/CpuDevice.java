package dev.warpwright.compiler;

import dev.warpwright.compiler.buffer.DeviceBuffer;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.execute.Executable;
import dev.warpwright.compiler.execute.HostExecutable;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.jvm.HostMachine;
import dev.warpwright.jvm.ParallelRunner;
import dev.warpwright.target.HostTarget;
import dev.warpwright.target.Target;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.WorkloadKey;
import org.jspecify.annotations.Nullable;

/** The cores of this machine, through bytecode. */
public final class CpuDevice implements Device {
  /** The CPU of this machine. */
  public CpuDevice() {}

  private final HostTarget target = HostMachine.targetToRunOn();
  private final ParallelRunner parallel = new ParallelRunner(target.cores());

  @Override
  public String name() {
    String vectors = target.hasVectors() ? target.vectorBits() + "-bit vectors" : "no vectors";
    return "CPU (" + target.cores() + " cores, " + vectors + ")";
  }

  @Override
  public Target target() {
    return target;
  }

  @Override
  public DeviceBuffer allocate(DType type, long elements) {
    return DeviceBuffer.onHost(type, elements);
  }

  @Override
  public Executable load(CompiledProgram program, ConstantStore constants) {
    return new HostExecutable(program, constants, parallel);
  }

  /**
   * {@return a product of matrices that are both new in every call}
   *
   * @param m rows of the result
   * @param n its columns
   * @param k terms of each sum
   */
  public CpuMatmul matmul(int m, int n, int k) {
    return new CpuMatmul(m, n, k, target, parallel);
  }

  /**
   * {@return attention over caches that are new in every call; heads and tiles of rows run in
   * parallel on this device's cores, so it must stay open}
   *
   * @param attention its heads, tokens and keys
   */
  public CpuAttention attention(Attention attention) {
    return CpuAttention.of(attention, parallel);
  }

  @Override
  public @Nullable GemmKernels products() {
    return null;
  }

  @Override
  public @Nullable String preferred(WorkloadKey network) {
    return null;
  }

  @Override
  public void close() {
    parallel.close();
  }
}
