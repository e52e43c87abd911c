package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.cuda.compile.Cubin;
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
import dev.warpwright.runtime.cuda.CudaEvent;
import dev.warpwright.runtime.cuda.CudaFunction;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaLaunch;
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
import org.jspecify.annotations.Nullable;

/**
 * A program of grid kernels on a GPU. The launches for one row count are prepared once and, when
 * that row count comes again, replayed as a CUDA graph.
 */
public final class CudaExecutable implements Executable {
  private static final byte POISON = (byte) 0xFF;

  private final Program program;
  private final CompiledProgram compiled;
  private final Var rowsVar;
  private final CudaContext context;
  private final CudaModule module;
  private final CudaStream stream;
  private final Map<Buffer, CudaBuffer> buffers = new HashMap<>();
  private final List<CudaFunction> functions = new ArrayList<>();
  private final List<CudaLaunch> launches = new ArrayList<>();
  private @Nullable CudaGraph graph;
  private int rows = -1;
  private boolean closed;

  /**
   * Loads the module and uploads the constants.
   *
   * @param cubin machine code of all the program's kernels
   */
  public CudaExecutable(
      CompiledProgram compiled, ConstantStore constants, CudaContext context, Cubin cubin) {
    this.compiled = compiled;
    this.program = compiled.program();
    this.rowsVar = compiled.network().rows().var();
    this.context = context;
    this.module = context.load(cubin.bytes());
    this.stream = context.newStream();
    for (PackedConstant constant : compiled.constants()) {
      MemorySegment packed = segment(constants.array(constant));
      CudaBuffer buffer = context.allocate(Math.max(16, packed.byteSize()));
      buffer.copyFrom(packed, stream);
      buffers.put(constant.buffer(), buffer);
    }
    for (Program.Step step : program.steps()) {
      if (step instanceof Program.Launch launch) {
        functions.add(GridLauncher.of(launch.kernel(), module).function());
      }
    }
    stream.synchronize();
  }

  private static MemorySegment segment(Object array) {
    return switch (array) {
      case float[] a -> MemorySegment.ofArray(a);
      case short[] a -> MemorySegment.ofArray(a);
      case int[] a -> MemorySegment.ofArray(a);
      default -> throw new IllegalArgumentException("no storage: " + array.getClass());
    };
  }

  @Override
  public void run(int newRows, List<float[]> inputs, List<float[]> outputs) {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
    prepare(newRows == 0 ? 0 : compiled.fixedRows().orElse(newRows));
    if (newRows == 0) {
      return;
    }
    for (int i = 0; i < inputs.size(); i++) {
      Buffer buffer = compiled.network().inputs().get(i);
      deviceBuffer(buffer)
          .copyFrom(segment(HostArrays.from(inputs.get(i), buffer.dtype())), stream);
    }
    // An element that no kernel writes must not look like the last run's.
    for (Buffer output : compiled.network().outputs()) {
      deviceBuffer(output).poison(POISON, stream);
    }
    if (graph == null) {
      enqueue();
    } else {
      graph.replay(stream);
    }
    List<Object> results = new ArrayList<>();
    for (int i = 0; i < outputs.size(); i++) {
      Buffer buffer = compiled.network().outputs().get(i);
      Object result = HostArrays.like(outputs.get(i), buffer.dtype());
      deviceBuffer(buffer).copyTo(segment(result), stream);
      results.add(result);
    }
    stream.synchronize();
    for (int i = 0; i < outputs.size(); i++) {
      HostArrays.widen(results.get(i), compiled.network().outputs().get(i).dtype(), outputs.get(i));
    }
  }

  /** Sizes buffers and prepares launches for a row count; the second use of it makes the graph. */
  private void prepare(int newRows) {
    if (newRows == rows) {
      if (graph == null && newRows > 0) {
        graph = CudaGraph.capture(stream, this::enqueue);
      }
      return;
    }
    if (graph != null) {
      graph.close();
      graph = null;
    }
    rows = newRows;
    launches.clear();
    if (newRows == 0) {
      return;
    }
    Map<Var, Long> scalars = Map.of(rowsVar, (long) newRows);
    List<Buffer> sized = new ArrayList<>(compiled.network().inputs());
    sized.addAll(compiled.network().outputs());
    sized.addAll(program.workspace());
    for (Buffer buffer : sized) {
      long bytes = Math.max(16, HostExecutable.elements(buffer, scalars) * buffer.dtype().bytes());
      CudaBuffer old = buffers.get(buffer);
      if (old == null || old.bytes() != bytes) {
        if (old != null) {
          old.close();
        }
        buffers.put(buffer, context.allocate(bytes));
      }
    }
    int next = 0;
    for (Program.Step step : program.steps()) {
      if (step instanceof Program.Launch(Kernel kernel, List<Program.Argument> arguments)) {
        Map<Buffer, CudaBuffer> memory = new HashMap<>();
        Map<Var, Long> values = new HashMap<>(scalars);
        for (int i = 0; i < arguments.size(); i++) {
          switch (arguments.get(i)) {
            case Program.BufferArgument(Buffer buffer) ->
                memory.put((Buffer) kernel.params().get(i), deviceBuffer(buffer));
            case Program.ScalarArgument(Expr value) ->
                values.put(
                    ((ScalarParam) kernel.params().get(i)).var(), ScalarEval.eval(value, scalars));
          }
        }
        launches.add(new GridLauncher(kernel, functions.get(next++)).prepare(memory, values));
      }
    }
  }

  private CudaBuffer deviceBuffer(Buffer buffer) {
    CudaBuffer device = buffers.get(buffer);
    if (device == null) {
      throw new IllegalStateException("buffer " + buffer.name() + " is not on the device");
    }
    return device;
  }

  private void enqueue() {
    int next = 0;
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Memset(Buffer buffer, int value) ->
            deviceBuffer(buffer).poison((byte) value, stream);
        case Program.Launch launch -> launches.get(next++).run(stream);
      }
    }
  }

  @Override
  public Timing time(int repetitions) {
    List<Double> each = new ArrayList<>();
    if (rows <= 0) {
      functions.forEach(f -> each.add(0.0));
      return new Timing(0, each);
    }
    double total = median(this::enqueue, repetitions);
    if (launches.size() == 1) {
      each.add(total);
    } else {
      for (CudaLaunch launch : launches) {
        each.add(median(() -> launch.run(stream), repetitions));
      }
    }
    return new Timing(total, each);
  }

  private double median(Runnable work, int repetitions) {
    double[] micros = new double[repetitions];
    try (CudaEvent start = context.newEvent();
        CudaEvent end = context.newEvent()) {
      for (int r = -3; r < repetitions; r++) {
        start.record(stream);
        work.run();
        end.record(stream);
        end.synchronize();
        if (r >= 0) {
          micros[r] = end.millisSince(start) * 1e3;
        }
      }
    }
    return HostExecutable.median(micros);
  }

  @Override
  public List<KernelFacts> kernelFacts() {
    List<KernelFacts> facts = new ArrayList<>();
    List<Program.Launch> steps =
        program.steps().stream()
            .filter(Program.Launch.class::isInstance)
            .map(Program.Launch.class::cast)
            .toList();
    for (int i = 0; i < steps.size(); i++) {
      Kernel kernel = steps.get(i).kernel();
      Dim3 grid = launches.isEmpty() ? Dim3.ONE : launches.get(i).config().grid();
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
    if (graph != null) {
      graph.close();
    }
    buffers.values().forEach(CudaBuffer::close);
    buffers.clear();
    stream.close();
    module.close();
  }
}
