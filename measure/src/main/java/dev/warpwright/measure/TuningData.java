package dev.warpwright.measure;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.DeviceReference;
import dev.warpwright.measure.reference.ErrorSum;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Inputs of a workload in several sets, memory for its outputs, and the references of the first and
 * the last set: made once, for all kernels that are tried. Kernels of one workload find their
 * buffers by name; what else they need is theirs.
 */
final class TuningData implements AutoCloseable {
  private final BoundWorkload workload;
  private final CudaStream stream;
  private final BenchMemory memory;
  private final List<DeviceReference> references = new ArrayList<>();
  private final CudaModule module;
  private final CudaBuffer sums;
  private final Kernel comparison;
  private final Gpu device;

  TuningData(BoundKernel first, Gpu device, CudaStream stream, long seed) {
    this.workload = first.workload();
    this.device = device;
    this.stream = stream;
    this.memory = new BenchMemory(first, device.context(), stream, seed);
    this.sums = memory.allocate(8L * ErrorSum.FIGURES * ErrorSum.THREADS);
    this.comparison = ErrorSum.of(workload.result());
    this.module = device.context().load(compile(comparison, (GpuTarget) device.target()).bytes());
    for (int i = 0; i < 2; i++) {
      DeviceReference reference = new DeviceReference(workload, memory, device, stream);
      references.add(reference);
      int set = i == 0 ? 0 : count() - 1;
      reference.compute(set, seed + set);
    }
  }

  /** Compiles what results of a workload are compared by, so that the cache has it. */
  static void compile(BoundWorkload workload, GpuTarget target) {
    compile(ErrorSum.of(workload.result()), target);
    DeviceReference.compile(workload, target);
  }

  private static Cubin compile(Kernel comparison, GpuTarget target) {
    return CudaCompilers.compile(CudaPrinter.print(List.of(comparison), target), target);
  }

  BoundWorkload workload() {
    return workload;
  }

  int count() {
    return memory.count();
  }

  /** Overwrites the outputs of a set. */
  void poison(int set) {
    memory.poison(set);
  }

  /** How far what is in the output of the first or the last set is from its reference. */
  OutputError error(boolean last) {
    DeviceReference reference = references.get(last ? 1 : 0);
    List<Buffer> params = comparison.buffers();
    Map<Buffer, CudaBuffer> arguments =
        Map.of(
            params.get(0),
            memory.get(last ? count() - 1 : 0, workload.result()),
            params.get(1),
            reference.result(),
            params.get(2),
            reference.deviation(),
            params.get(3),
            sums);
    GridLauncher.of(comparison, module).prepare(arguments, Map.of()).run(stream);
    double[] figures = new double[ErrorSum.FIGURES * ErrorSum.THREADS];
    sums.copyTo(MemorySegment.ofArray(figures), 0, stream);
    stream.synchronize();
    return ErrorSum.error(figures);
  }

  /** Prepares a kernel of this workload on every set; the results are where all kernels' are. */
  SetLaunches launches(BoundKernel bound, GridLauncher launcher) {
    return SetLaunches.of(bound, launcher, workload, memory, device.context(), stream, false);
  }

  @Override
  public void close() {
    references.forEach(DeviceReference::close);
    module.close();
    memory.close();
  }
}
