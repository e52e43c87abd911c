package dev.warpwright.compiler.execute;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.compiler.buffer.DeviceStream;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaFunction;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.KernelResources;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A program of grid kernels on a GPU: its module, its constants. Each {@link CudaWorkspace} has a
 * stream of its own, or is for one of the caller's.
 */
public final class CudaExecutable implements Executable {
  private final CompiledProgram compiled;
  private final CudaContext context;
  private final CudaModule module;
  private final Map<Buffer, CudaBuffer> constants = new HashMap<>();
  private final List<CudaFunction> functions = new ArrayList<>();
  private final Set<CudaWorkspace> open = ConcurrentHashMap.newKeySet();
  private final CudaWorkspace first;
  private volatile boolean closed;

  /**
   * Loads the module and uploads the constants; where that fails, nothing stays on the device.
   *
   * @param cubin machine code of all the program's kernels
   */
  public CudaExecutable(
      CompiledProgram compiled, ConstantStore constants, CudaContext context, Cubin cubin) {
    this.compiled = compiled;
    this.context = context;
    this.module = context.load(cubin.bytes());
    try {
      this.first = opened(new CudaWorkspace(this, context.newStream(), true));
      upload(constants, first.stream());
    } catch (RuntimeException e) {
      try {
        close();
      } catch (DeviceError again) {
        e.addSuppressed(again);
      }
      throw e;
    }
  }

  private void upload(ConstantStore constants, CudaStream stream) {
    for (PackedConstant constant : compiled.constants()) {
      MemorySegment packed = constants.segment(constant);
      CudaBuffer buffer = context.allocate(Math.max(16, packed.byteSize()));
      buffer.copyFrom(packed, stream);
      this.constants.put(constant.buffer(), buffer);
    }
    for (Program.Step step : compiled.program().steps()) {
      if (step instanceof Program.Launch launch) {
        functions.add(GridLauncher.of(launch.kernel(), module).function());
      }
    }
    stream.synchronize();
  }

  // ---- what workspaces share ---------------------------------------------------------------

  CompiledProgram compiled() {
    return compiled;
  }

  CudaContext context() {
    return context;
  }

  /** The constants on the device. */
  Map<Buffer, CudaBuffer> constants() {
    return constants;
  }

  /** The machine code of each launch, in order. */
  List<CudaFunction> functions() {
    return functions;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
  }

  void closed(CudaWorkspace workspace) {
    open.remove(workspace);
  }

  // ---- for everybody -----------------------------------------------------------------------

  @Override
  public Workspace newWorkspace() {
    checkOpen();
    return opened(new CudaWorkspace(this, context.newStream(), true));
  }

  @Override
  public Workspace newWorkspace(DeviceStream stream) {
    checkOpen();
    CudaStream cuda = stream.cuda();
    if (cuda == null || cuda.context() != context) {
      throw new UserError("the stream is another device's; the model's device makes one for it");
    }
    return opened(new CudaWorkspace(this, cuda, false));
  }

  private CudaWorkspace opened(CudaWorkspace workspace) {
    open.add(workspace);
    return workspace;
  }

  @Override
  public void run(int rows, List<float[]> inputs, List<float[]> outputs) {
    first.verify(rows, HostExecutable.tensors(inputs), HostExecutable.tensors(outputs));
  }

  @Override
  public Timing time(int repetitions) {
    return first.time(repetitions);
  }

  @Override
  public List<KernelFacts> kernelFacts() {
    List<KernelFacts> facts = new ArrayList<>();
    List<Program.Launch> steps =
        compiled.program().steps().stream()
            .filter(Program.Launch.class::isInstance)
            .map(Program.Launch.class::cast)
            .toList();
    List<Dim3> grids = first.grids();
    for (int i = 0; i < steps.size(); i++) {
      Kernel kernel = steps.get(i).kernel();
      Dim3 grid = grids.isEmpty() ? Dim3.ONE : grids.get(i);
      Dim3 block = GridLauncher.dim(kernel, ThreadAxis.THREAD_X, Map.of());
      facts.add(
          new KernelFacts(
              kernel.name(),
              List.of((long) grid.x(), (long) grid.y(), (long) grid.z()),
              List.of(block.x(), block.y(), block.z()),
              KernelResources.of(kernel).sharedBytes(),
              functions.get(i).registers()));
    }
    return facts;
  }

  @Override
  public void close() {
    closed = true;
    List.copyOf(open).forEach(CudaWorkspace::close);
    constants.values().forEach(CudaBuffer::close);
    constants.clear();
    module.close();
  }
}
