package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.sim.Arguments;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs the steps of a program on a GPU once, without a plan for doing it again. */
final class ProgramOnGpu implements AutoCloseable {
  private static final byte POISON = -1;

  private final Gpu gpu;
  private final Program program;
  private final Arguments arguments;
  private final CudaStream stream;
  private final Map<Buffer, CudaBuffer> memory = new IdentityHashMap<>();
  private final Map<Kernel, GridLauncher> launchers = new IdentityHashMap<>();
  private final List<CudaModule> modules = new ArrayList<>();

  private ProgramOnGpu(Program program, Arguments arguments, Gpu gpu) {
    this.gpu = gpu;
    this.program = program;
    this.arguments = arguments;
    this.stream = gpu.context().newStream();
  }

  /**
   * Runs; the arguments' arrays hold afterwards what the GPU left in them.
   *
   * @throws UserError if a kernel is for the CPU
   */
  static void run(Program program, Arguments arguments, Gpu gpu) {
    try (ProgramOnGpu run = new ProgramOnGpu(program, arguments, gpu)) {
      run.run();
    }
  }

  private void run() {
    List<Buffer> params = new ArrayList<>();
    for (Program.ProgramParam param : program.params()) {
      if (param.param() instanceof Buffer buffer) {
        params.add(buffer);
        allocate(buffer, arguments.get(buffer).bytes().length)
            .copyFrom(arguments.get(buffer).segment(), stream);
      }
    }
    Set<Buffer> counters = program.counters();
    for (Buffer buffer : program.workspace()) {
      allocate(buffer, arguments.storageBytes(buffer))
          .poison(counters.contains(buffer) ? 0 : POISON, stream);
    }
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Launch launch -> launch(launch);
        case Program.AllReduce sum -> throw sum.alone();
        case Program.Memset(Buffer buffer, int value) ->
            memory(buffer).poison((byte) value, stream);
        case Program.Carry(Buffer from, Buffer to) ->
            memory(to).copyFrom(memory(from), arguments.get(to).bytes().length, stream);
      }
    }
    params.forEach(buffer -> memory(buffer).copyTo(arguments.get(buffer).segment(), stream));
    stream.synchronize();
  }

  private void launch(Program.Launch launch) {
    Kernel kernel = launch.kernel();
    Map<Buffer, CudaBuffer> buffers = new HashMap<>();
    Map<Var, Long> scalars = new HashMap<>();
    for (int i = 0; i < launch.arguments().size(); i++) {
      switch (launch.arguments().get(i)) {
        case Program.BufferArgument(Buffer buffer) ->
            buffers.put((Buffer) kernel.params().get(i), memory(buffer));
        case Program.ScalarArgument(var value) ->
            scalars.put(
                ((ScalarParam) kernel.params().get(i)).var(),
                arguments.evaluate(value).longValue());
      }
    }
    launchers.computeIfAbsent(kernel, this::load).prepare(buffers, scalars).run(stream);
  }

  private GridLauncher load(Kernel kernel) {
    if (kernel.kind() != Kernel.Kind.GRID) {
      throw new UserError("kernel " + kernel.name() + " is for the CPU, not for a GPU");
    }
    GpuTarget target = (GpuTarget) gpu.target();
    byte[] cubin = CudaCompilers.compile(CudaPrinter.print(kernel, target), target).bytes();
    CudaModule module = gpu.context().load(cubin);
    modules.add(module);
    return GridLauncher.of(kernel, module);
  }

  private CudaBuffer allocate(Buffer buffer, long bytes) {
    CudaBuffer allocated = gpu.context().allocate(Math.max(16, bytes));
    memory.put(buffer, allocated);
    return allocated;
  }

  private CudaBuffer memory(Buffer buffer) {
    CudaBuffer found = memory.get(buffer);
    if (found == null) {
      throw new IllegalArgumentException(
          "buffer " + buffer.name() + " is neither a parameter nor workspace of the program");
    }
    return found;
  }

  @Override
  public void close() {
    memory.values().forEach(CudaBuffer::close);
    modules.forEach(CudaModule::close);
    stream.close();
  }
}
