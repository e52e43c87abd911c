package dev.warpwright.measure.network;

import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.KernelResources;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A program on a device, with its launches on each set of inputs and outputs. */
final class LoadedNetwork implements AutoCloseable {
  private final NetworkProgram program;
  private final CudaModule module;
  private final CudaStream stream;
  private final Map<Buffer, CudaBuffer> shared = new HashMap<>();
  private final List<List<Step>> steps = new ArrayList<>();
  private final ProgramFacts facts;

  /** Part of a launch of the whole. */
  @FunctionalInterface
  private interface Step {
    void enqueue();
  }

  LoadedNetwork(
      NetworkProgram program,
      String source,
      Cubin cubin,
      NetworkMemory memory,
      CudaContext context,
      CudaStream stream) {
    this.program = program;
    this.stream = stream;
    this.module = context.load(cubin.bytes());
    try {
      program
          .constants()
          .forEach(
              (buffer, array) -> {
                MemorySegment elements = segment(array);
                CudaBuffer device = context.allocate(Math.max(16, elements.byteSize()));
                device.copyFrom(elements, stream);
                shared.put(buffer, device);
              });
      Map<Var, Long> scalars = program.scalars();
      Set<Buffer> counters = program.program().counters();
      for (Buffer buffer : program.program().workspace()) {
        long elements = 1;
        for (Expr extent : buffer.shape()) {
          elements = Math.multiplyExact(elements, ScalarEval.eval(extent, scalars));
        }
        CudaBuffer own = context.allocate(Math.max(16, elements * buffer.dtype().bytes()));
        shared.put(buffer, own);
        if (counters.contains(buffer)) {
          own.poison((byte) 0, stream);
        }
      }
      Map<Kernel, GridLauncher> launchers = new HashMap<>();
      for (int set = 0; set < memory.count(); set++) {
        steps.add(prepare(memory.set(set), scalars, launchers));
      }
      facts = facts(source, cubin, launchers, scalars);
      stream.synchronize();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private static MemorySegment segment(Object array) {
    return switch (array) {
      case float[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case int[] a -> MemorySegment.ofArray(a);
      default -> throw new IllegalArgumentException("no storage: " + array.getClass());
    };
  }

  private List<Step> prepare(
      List<CudaBuffer> set, Map<Var, Long> scalars, Map<Kernel, GridLauncher> launchers) {
    Map<Buffer, CudaBuffer> all = new HashMap<>(shared);
    List<Buffer> columns = new ArrayList<>(program.inputs());
    columns.addAll(program.outputs());
    for (int i = 0; i < columns.size(); i++) {
      all.put(columns.get(i), set.get(i));
    }
    List<Step> prepared = new ArrayList<>();
    for (Program.Step step : program.program().steps()) {
      switch (step) {
        case Program.Memset(Buffer buffer, int value) -> {
          CudaBuffer memory = find(all, buffer);
          prepared.add(() -> memory.poison((byte) value, stream));
        }
        case Program.Carry(Buffer from, Buffer to) -> {
          CudaBuffer source = find(all, from);
          CudaBuffer target = find(all, to);
          if (source != target) {
            prepared.add(() -> target.copyFrom(source, target.bytes(), stream));
          }
        }
        case Program.AllReduce sum -> throw sum.alone();
        case Program.Launch(Kernel kernel, List<Program.Argument> arguments) -> {
          Map<Buffer, CudaBuffer> memory = new HashMap<>();
          Map<Var, Long> values = new HashMap<>(scalars);
          for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
              case Program.BufferArgument(Buffer buffer) ->
                  memory.put((Buffer) kernel.params().get(i), find(all, buffer));
              case Program.ScalarArgument(Expr value) ->
                  values.put(
                      ((ScalarParam) kernel.params().get(i)).var(),
                      ScalarEval.eval(value, scalars));
            }
          }
          CudaLaunch launch =
              launchers
                  .computeIfAbsent(kernel, k -> GridLauncher.of(k, module))
                  .prepare(memory, values);
          prepared.add(() -> launch.run(stream));
        }
      }
    }
    return prepared;
  }

  private static CudaBuffer find(Map<Buffer, CudaBuffer> all, Buffer buffer) {
    CudaBuffer memory = all.get(buffer);
    if (memory == null) {
      throw new IllegalArgumentException("no memory for buffer " + buffer.name());
    }
    return memory;
  }

  private ProgramFacts facts(
      String source, Cubin cubin, Map<Kernel, GridLauncher> launchers, Map<Var, Long> scalars) {
    int registers = 0;
    int sharedBytes = 0;
    int threads = 0;
    long blocks = 0;
    for (Map.Entry<Kernel, GridLauncher> entry : launchers.entrySet()) {
      Kernel kernel = entry.getKey();
      registers = Math.max(registers, entry.getValue().function().registers());
      sharedBytes = Math.max(sharedBytes, KernelResources.of(kernel).sharedBytes());
      threads =
          (int) Math.max(threads, GridLauncher.dim(kernel, ThreadAxis.THREAD_X, scalars).count());
      blocks = Math.max(blocks, GridLauncher.dim(kernel, ThreadAxis.BLOCK_X, scalars).count());
    }
    int spills =
        cubin.usage().stream()
            .mapToInt((ResourceUsage usage) -> usage.spillStores() + usage.spillLoads())
            .sum();
    return new ProgramFacts(
        SourceHash.of(source),
        launchers.size(),
        blocks,
        threads,
        registers,
        sharedBytes,
        spills,
        cubin.warnings());
  }

  ProgramFacts facts() {
    return facts;
  }

  /** Gives the work on a set to the stream, without waiting. */
  void enqueue(int set) {
    steps.get(set).forEach(Step::enqueue);
  }

  @Override
  public void close() {
    shared.values().forEach(CudaBuffer::close);
    shared.clear();
    module.close();
  }
}
