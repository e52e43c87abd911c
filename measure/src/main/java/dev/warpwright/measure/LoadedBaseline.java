package dev.warpwright.measure;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.FastKernelCheck;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.List;

/** Another kernel of a workload, on the same inputs, with results of its own. */
final class LoadedBaseline implements AutoCloseable {
  private final CudaModule module;
  private final SetLaunches launches;
  private final CudaStream stream;

  private LoadedBaseline(CudaModule module, SetLaunches launches, CudaStream stream) {
    this.module = module;
    this.launches = launches;
    this.stream = stream;
  }

  /**
   * Compiles and prepares it.
   *
   * @throws UserError if it does not fit the workload
   * @throws DeviceError if it cannot be compiled, or is marked fast and is not
   */
  static LoadedBaseline load(
      KernelBench.BaselineKernel baselineKernel,
      BoundWorkload workload,
      BenchMemory memory,
      Gpu device,
      CudaStream stream) {
    GpuTarget target = (GpuTarget) device.target();
    BoundKernel bound = BoundKernel.of(baselineKernel.kernel(), baselineKernel.values());
    Cubin cubin = CudaCompilers.compile(CudaPrinter.print(bound.kernel(), target), target);
    List<String> slow = FastKernelCheck.problems(bound.kernel(), cubin);
    if (!slow.isEmpty()) {
      throw new DeviceError(FastKernelCheck.message(bound.kernel(), slow));
    }
    CudaModule module = device.context().load(cubin.bytes());
    try {
      return new LoadedBaseline(
          module,
          SetLaunches.of(
              bound,
              GridLauncher.of(bound.kernel(), module),
              workload,
              memory,
              device.context(),
              stream,
              true),
          stream);
    } catch (RuntimeException e) {
      module.close();
      throw e;
    }
  }

  void enqueue(int set) {
    launches.launches().get(set).run(stream);
  }

  CudaBuffer result(int set) {
    return launches.results().get(set);
  }

  @Override
  public void close() {
    launches.close();
    module.close();
  }
}
