package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.KernelCounters;
import java.util.List;
import java.util.function.Supplier;

/** Runs kernels by bytecode and by closures, and compares all that they do. */
final class BothEngines {
  private BothEngines() {}

  private static final KernelCounters.Caches CACHES =
      new KernelCounters.Caches(4, 192 << 10, 30 << 20);

  /** What one execution gave. */
  private record Result(List<Finding> findings, Object counters, List<NdArray> memory) {
    boolean sameBits(Result other) {
      for (int i = 0; i < memory.size(); i++) {
        if (!memory.get(i).sameBits(other.memory.get(i))) {
          return false;
        }
      }
      return true;
    }
  }

  private static Result result(GridInterpreter interpreter, Kernel kernel, Arguments arguments) {
    List<Finding> findings = interpreter.check(arguments);
    return new Result(findings, "", memory(kernel, arguments));
  }

  private static List<NdArray> memory(Kernel kernel, Arguments arguments) {
    return kernel.buffers().stream().map(arguments::get).toList();
  }

  private static Result counted(GridInterpreter interpreter, Kernel kernel, Arguments arguments) {
    KernelCounters counters = interpreter.count(arguments, CACHES);
    return new Result(List.of(), counters, memory(kernel, arguments));
  }

  /** Runs both ways; the interpreter that used bytecode. */
  static GridInterpreter agree(
      Kernel kernel, Supplier<Arguments> arguments, GridOptions options, String what) {
    GridInterpreter fast =
        new GridInterpreter(kernel, options.withEngine(GridOptions.Engine.FASTEST), false);
    GridInterpreter slow =
        new GridInterpreter(kernel, options.withEngine(GridOptions.Engine.INTERPRETER));
    Result had =
        options.count()
            ? counted(fast, kernel, arguments.get())
            : result(fast, kernel, arguments.get());
    Result wanted =
        options.count()
            ? counted(slow, kernel, arguments.get())
            : result(slow, kernel, arguments.get());
    assertThat(had.findings()).as(what).isEqualTo(wanted.findings());
    assertThat(had.counters()).as(what).isEqualTo(wanted.counters());
    assertThat(had.sameBits(wanted)).as("memory of %s", what).isTrue();
    return fast;
  }
}
