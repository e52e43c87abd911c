package dev.warpwright.measure.attention;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.GridLauncher;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The kernels of a way on a device, with their launches on each set, and their results. */
final class LoadedAttention implements AutoCloseable {
  private static final byte POISON = -1;

  private final CudaStream stream;
  private final List<CudaModule> modules = new ArrayList<>();
  private final Map<Buffer, CudaBuffer> workspace = new IdentityHashMap<>();
  private final List<CudaBuffer> results = new ArrayList<>();
  private final List<List<CudaLaunch>> launches = new ArrayList<>();

  /**
   * Loads and prepares.
   *
   * @throws dev.warpwright.base.DeviceError if the device refuses a kernel
   */
  LoadedAttention(
      CompiledAttention compiled, AttentionMemory memory, CudaContext context, CudaStream stream) {
    this.stream = stream;
    Program program = compiled.made().program();
    try {
      Map<Kernel, GridLauncher> launchers = new IdentityHashMap<>();
      List<Kernel> kernels = program.kernels();
      for (int i = 0; i < kernels.size(); i++) {
        CudaModule module = context.load(compiled.cubins().get(i).bytes());
        modules.add(module);
        launchers.put(kernels.get(i), GridLauncher.of(kernels.get(i), module));
      }
      Set<Buffer> counters = program.counters();
      for (Buffer buffer : program.workspace()) {
        long bytes = buffer.storageElements() * buffer.dtype().bytes();
        CudaBuffer partial = context.allocate(Math.max(16, bytes));
        workspace.put(buffer, partial);
        partial.poison(counters.contains(buffer) ? 0 : POISON, stream);
      }
      for (Map.Entry<Buffer, List<Integer>> table : compiled.made().tables().entrySet()) {
        int[] values = table.getValue().stream().mapToInt(Integer::intValue).toArray();
        CudaBuffer own = context.allocate(Math.max(16, 4L * values.length));
        workspace.put(table.getKey(), own);
        own.copyFrom(MemorySegment.ofArray(values), stream);
        stream.synchronize();
      }
      Set<Buffer> outputs = new HashSet<>();
      for (Program.ProgramParam param : program.params()) {
        if (param.role() == Program.Role.OUTPUT) {
          outputs.add((Buffer) param.param());
        }
      }
      for (int set = 0; set < memory.count(); set++) {
        results.add(context.allocate(Math.max(16, memory.resultBytes())));
        launches.add(prepare(program, outputs, set, memory, launchers));
        poison(set);
      }
      stream.synchronize();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private List<CudaLaunch> prepare(
      Program program,
      Set<Buffer> outputs,
      int set,
      AttentionMemory memory,
      Map<Kernel, GridLauncher> launchers) {
    List<CudaLaunch> prepared = new ArrayList<>();
    for (Program.Step step : program.steps()) {
      if (!(step instanceof Program.Launch(Kernel kernel, List<Program.Argument> arguments))) {
        throw new IllegalArgumentException(program.name() + " does other than launch kernels");
      }
      Map<Buffer, CudaBuffer> buffers = new HashMap<>();
      for (int i = 0; i < arguments.size(); i++) {
        Buffer buffer = ((Program.BufferArgument) arguments.get(i)).buffer();
        CudaBuffer partial = workspace.get(buffer);
        CudaBuffer own = outputs.contains(buffer) ? results.get(set) : partial;
        buffers.put(
            (Buffer) kernel.params().get(i), own != null ? own : memory.get(set, buffer.name()));
      }
      GridLauncher launcher = Objects.requireNonNull(launchers.get(kernel));
      prepared.add(launcher.prepare(buffers, Map.of()));
    }
    return prepared;
  }

  /** Gives the work on a set to the stream, without waiting. */
  void enqueue(int set) {
    launches.get(set).forEach(launch -> launch.run(stream));
  }

  CudaBuffer result(int set) {
    return results.get(set);
  }

  /** What is then not written is not a number. */
  void poison(int set) {
    results.get(set).poison(POISON, stream);
  }

  @Override
  public void close() {
    workspace.values().forEach(CudaBuffer::close);
    results.forEach(CudaBuffer::close);
    modules.forEach(CudaModule::close);
  }
}
