package dev.warpwright.compiler.bench;

import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.execute.GridLauncher;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.target.GpuTarget;
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
  private final Workload workload;
  private final CudaStream stream;
  private final BenchMemory memory;
  private final List<DeviceReference> references = new ArrayList<>();
  private final CudaModule module;
  private final CudaBuffer sums;
  private final Kernel difference;
  private final double[] norms = new double[2];
  private final GpuDevice device;

  TuningData(BoundKernel first, GpuDevice device, CudaStream stream, long seed) {
    this.workload = first.workload();
    this.device = device;
    this.stream = stream;
    this.memory = new BenchMemory(first, device.context(), stream, seed);
    this.sums = memory.allocate(8L * ErrorSum.THREADS);
    this.difference = ErrorSum.ofDifference(workload.result());
    Kernel norm = ErrorSum.ofReference(workload.result());
    GpuTarget target = (GpuTarget) device.target();
    this.module =
        device
            .context()
            .load(
                GpuDevice.compile(CudaPrinter.print(List.of(difference, norm), target), target)
                    .bytes());
    for (int i = 0; i < 2; i++) {
      DeviceReference reference = new DeviceReference(workload, memory, device, stream);
      references.add(reference);
      int set = i == 0 ? 0 : count() - 1;
      reference.compute(set, seed + set);
      List<Buffer> params = norm.buffers();
      norms[i] = sum(norm, Map.of(params.get(0), reference.result(), params.get(1), sums));
    }
  }

  int count() {
    return memory.count();
  }

  /** Overwrites the outputs of a set. */
  void poison(int set) {
    memory.poison(set);
  }

  /**
   * The relative error of what is in the output of the first or the last set; not finite if an
   * element is not.
   */
  double relativeError(boolean last) {
    int i = last ? 1 : 0;
    List<Buffer> params = difference.buffers();
    double errors =
        sum(
            difference,
            Map.of(
                params.get(0),
                memory.get(last ? count() - 1 : 0, workload.result()),
                params.get(1),
                references.get(i).result(),
                params.get(2),
                sums));
    return errors == 0 ? 0 : Math.sqrt(errors / norms[i]);
  }

  private double sum(Kernel kernel, Map<Buffer, CudaBuffer> arguments) {
    GridLauncher.of(kernel, module).prepare(arguments, Map.of()).run(stream);
    double[] partial = new double[ErrorSum.THREADS];
    sums.copyTo(MemorySegment.ofArray(partial), 0, stream);
    stream.synchronize();
    double sum = 0;
    for (double p : partial) {
      sum += p;
    }
    return sum;
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
