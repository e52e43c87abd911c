package dev.warpwright.parallel.gpu;

import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.parallel.program.ParallelProgram;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.GridLauncher;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;

/** What one device has of a program: its buffers, and kernels that are ready to be launched. */
final class DeviceMemory {
  private static final long LEAST = 16;

  private final CudaContext context;
  private final CudaModule module;
  private final CudaStream kernels;
  private final CudaStream sums;
  private final Map<Buffer, CudaBuffer> buffers = new IdentityHashMap<>();
  private final Map<Program.Launch, CudaLaunch> launches = new IdentityHashMap<>();

  /**
   * Allocates, uploads constants and prepares launches.
   *
   * @param device its number
   * @param cubin machine code of all kernels
   */
  DeviceMemory(
      ParallelProgram parallel,
      int device,
      CudaContext context,
      byte[] cubin,
      ConstantStore constants) {
    this.context = context;
    this.module = context.load(cubin);
    this.kernels = context.newStream();
    this.sums = context.newStream();
    Program program = parallel.program();
    for (Program.ProgramParam param : program.params()) {
      allocate((Buffer) param.param());
    }
    program.workspace().forEach(this::allocate);
    program.counters().forEach(counters -> buffer(counters).poison((byte) 0, kernels));
    for (Program.View view : program.views()) {
      long row = bytes(view.of()) / view.of().extent(0);
      buffers.put(view.view(), buffer(view.of()).slice(view.first() * row, bytes(view.view())));
    }
    for (PackedConstant constant : parallel.constants().get(device)) {
      buffer(constant.buffer()).copyFrom(constants.segment(constant), kernels);
    }
    kernels.synchronize();
    for (Program.Step step : program.steps()) {
      if (step instanceof Program.Launch launch) {
        launches.put(launch, prepare(launch));
      }
    }
  }

  private static long bytes(Buffer buffer) {
    return buffer.storageElements() * buffer.dtype().bytes();
  }

  private void allocate(Buffer buffer) {
    buffers.put(buffer, context.allocate(Math.max(LEAST, bytes(buffer))));
  }

  private CudaLaunch prepare(Program.Launch launch) {
    Kernel kernel = launch.kernel();
    Map<Buffer, CudaBuffer> own = new HashMap<>();
    Map<Var, Long> scalars = new HashMap<>();
    for (int i = 0; i < launch.arguments().size(); i++) {
      switch (launch.arguments().get(i)) {
        case Program.BufferArgument(Buffer buffer) ->
            own.put((Buffer) kernel.params().get(i), buffer(buffer));
        case Program.ScalarArgument(Expr value) ->
            scalars.put(
                ((ScalarParam) kernel.params().get(i)).var(), ScalarEval.eval(value, Map.of()));
      }
    }
    return GridLauncher.of(kernel, module).prepare(own, scalars);
  }

  CudaContext context() {
    return context;
  }

  /** Where kernels are launched. */
  CudaStream kernels() {
    return kernels;
  }

  /** Where sums over devices are given, which may run beside kernels. */
  CudaStream sums() {
    return sums;
  }

  CudaBuffer buffer(Buffer buffer) {
    CudaBuffer found = buffers.get(buffer);
    if (found == null) {
      throw new IllegalStateException("buffer " + buffer.name() + " is not on the device");
    }
    return found;
  }

  void launch(Program.Launch launch) {
    CudaLaunch prepared = launches.get(launch);
    if (prepared == null) {
      throw new IllegalStateException(launch.kernel().name() + " was not prepared");
    }
    prepared.run(kernels);
  }

  void close() {
    buffers.values().forEach(CudaBuffer::close);
    module.close();
    kernels.close();
    sums.close();
  }
}
