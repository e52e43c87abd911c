package dev.warpwright.compiler.execute;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaGraph;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.Dim3;
import dev.warpwright.runtime.launch.GridLauncher;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The steps of a program for one row count on certain memory; a graph once they were captured. */
final class CudaLaunches {
  /** Something that is given to a stream. */
  @FunctionalInterface
  private interface Step {
    void give(CudaStream stream);
  }

  private final List<Step> steps = new ArrayList<>();
  private final List<CudaLaunch> launches = new ArrayList<>();
  private @Nullable CudaGraph graph;

  private CudaLaunches() {}

  /**
   * Prepares launches.
   *
   * @param memory of each of the program's buffers
   * @param scalars the row count
   */
  static CudaLaunches prepare(
      CudaExecutable executable, Map<Buffer, CudaBuffer> memory, Map<Var, Long> scalars) {
    CudaLaunches made = new CudaLaunches();
    for (Program.Step step : executable.compiled().program().steps()) {
      switch (step) {
        case Program.Memset(Buffer buffer, int value) -> {
          CudaBuffer target = required(memory, buffer);
          made.steps.add(stream -> target.poison((byte) value, stream));
        }
        case Program.Carry(Buffer from, Buffer to) -> {
          CudaBuffer source = required(memory, from);
          CudaBuffer target = required(memory, to);
          if (source != target) {
            long bytes = HostExecutable.elements(to, scalars) * to.dtype().bytes();
            made.steps.add(stream -> target.copyFrom(source, bytes, stream));
          }
        }
        case Program.AllReduce sum -> throw sum.alone();
        case Program.Launch(Kernel kernel, List<Program.Argument> arguments) -> {
          Map<Buffer, CudaBuffer> own = new HashMap<>();
          Map<Var, Long> values = new HashMap<>(scalars);
          for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
              case Program.BufferArgument(Buffer buffer) ->
                  own.put((Buffer) kernel.params().get(i), required(memory, buffer));
              case Program.ScalarArgument(Expr value) ->
                  values.put(
                      ((ScalarParam) kernel.params().get(i)).var(),
                      ScalarEval.eval(value, scalars));
            }
          }
          CudaLaunch launch =
              new GridLauncher(kernel, executable.functions().get(made.launches.size()))
                  .prepare(own, values);
          made.launches.add(launch);
          made.steps.add(launch::run);
        }
      }
    }
    return made;
  }

  private static CudaBuffer required(Map<Buffer, CudaBuffer> memory, Buffer buffer) {
    CudaBuffer device = memory.get(buffer);
    if (device == null) {
      throw new IllegalStateException("buffer " + buffer.name() + " is not on the device");
    }
    return device;
  }

  /** Makes the graph, unless it is there. */
  void capture(CudaStream stream) {
    if (graph == null) {
      graph = CudaGraph.capture(stream, () -> enqueue(stream));
    }
  }

  /** Gives everything to a stream: as the graph if it is there, else step by step. */
  void give(CudaStream stream) {
    if (graph == null) {
      enqueue(stream);
    } else {
      graph.replay(stream);
    }
  }

  /** Gives everything to a stream step by step. */
  void enqueue(CudaStream stream) {
    steps.forEach(step -> step.give(stream));
  }

  /** What gives each launch alone to a stream, in order. */
  List<Runnable> single(CudaStream stream) {
    return launches.stream().<Runnable>map(launch -> () -> launch.run(stream)).toList();
  }

  List<Dim3> grids() {
    return launches.stream().map(launch -> launch.config().grid()).toList();
  }

  void close() {
    if (graph != null) {
      graph.close();
      graph = null;
    }
  }
}
