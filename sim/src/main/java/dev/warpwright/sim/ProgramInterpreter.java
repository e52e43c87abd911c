package dev.warpwright.sim;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.sim.api.Finding;
import dev.warpwright.sim.api.KernelCounters;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.sim.finding.FindingSink;
import dev.warpwright.sim.finding.RaceCollector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Executes the steps of a Program: grid kernels by the {@link GridInterpreter}, host kernels by the
 * {@link Interpreter}. Workspace starts poisoned, and does so again unless it is kept. Kernels are
 * compiled once.
 */
public final class ProgramInterpreter {
  /** Runs one kernel. */
  private interface Executor {
    void run(Arguments arguments, FindingSink races);
  }

  /** Where counters of launches go, null if they are not counted. */
  private record Counted(
      Function<Kernel, KernelCounters.Caches> caches, List<KernelCounters> launches) {}

  private @Nullable Counted counted;

  /** What runs have left in the workspace, null if each starts anew. */
  private @Nullable Map<Buffer, NdArray> kept;

  private final Program program;
  private final Map<Kernel, Executor> executors = new IdentityHashMap<>();

  public ProgramInterpreter(Program program, GridOptions gridOptions, Options hostOptions) {
    this.program = program;
    for (Program.Step step : program.steps()) {
      if (step instanceof Program.Launch launch) {
        executors.computeIfAbsent(
            launch.kernel(), kernel -> executor(kernel, gridOptions, hostOptions));
      }
    }
  }

  private Executor executor(Kernel kernel, GridOptions gridOptions, Options hostOptions) {
    return switch (kernel.kind()) {
      case GRID -> {
        GridInterpreter grid = new GridInterpreter(kernel, gridOptions);
        yield (arguments, races) -> {
          Counted into = counted;
          if (into == null) {
            grid.execute(arguments, races);
          } else {
            into.launches.add(grid.count(arguments, into.caches.apply(kernel)));
          }
        };
      }
      case HOST -> {
        Interpreter host = Interpreter.of(kernel, hostOptions);
        yield (arguments, races) -> host.run(arguments);
      }
    };
  }

  /**
   * Lets the workspace hold at each run what the run before has left there, as on a GPU; all runs
   * must have the same scalars. Returns this.
   */
  public ProgramInterpreter keepingWorkspace() {
    kept = new IdentityHashMap<>();
    return this;
  }

  /** Everything checked, in order. */
  public static void run(Program program, Arguments arguments) {
    new ProgramInterpreter(program, GridOptions.DEFAULT, Options.EXACT).run(arguments);
  }

  /** The parameters, as {@link Arguments} takes them. */
  public static List<Param> params(Program program) {
    return program.params().stream().map(Program.ProgramParam::param).toList();
  }

  /**
   * Runs all steps on arguments for the program's parameters.
   *
   * @throws SimulationError if a kernel does what the IR does not define
   */
  public void run(Arguments arguments) {
    execute(arguments, FindingSink.THROWING);
  }

  /**
   * Runs and gives everything found, one race for each statement; a finding other than a race ends
   * the execution.
   */
  public List<Finding> check(Arguments arguments) {
    return RaceCollector.collect(races -> execute(arguments, races));
  }

  /**
   * Runs and counts what each launch of a grid kernel asks of the memories; caches are empty before
   * each. The options must be such that requests are counted.
   *
   * @throws SimulationError at the first finding
   */
  public List<KernelCounters> count(Arguments arguments, KernelCounters.Caches caches) {
    return count(arguments, kernel -> caches);
  }

  /**
   * As {@link #count(Arguments, KernelCounters.Caches)}, with caches of its own for each kernel.
   */
  public List<KernelCounters> count(
      Arguments arguments, Function<Kernel, KernelCounters.Caches> caches) {
    List<KernelCounters> launches = new ArrayList<>();
    counted = new Counted(caches, launches);
    try {
      execute(arguments, FindingSink.THROWING);
    } finally {
      counted = null;
    }
    return launches;
  }

  private void execute(Arguments arguments, FindingSink races) {
    Map<Buffer, NdArray> arrays = new IdentityHashMap<>();
    for (Param p : params(program)) {
      if (p instanceof Buffer b) {
        arrays.put(b, arguments.get(b));
      }
    }
    for (Buffer b : program.workspace()) {
      NdArray left = kept == null ? null : kept.get(b);
      arrays.put(b, left == null ? NdArray.of(b, arguments.shape(b)).poison() : left);
    }
    if (kept != null) {
      program.workspace().forEach(b -> Objects.requireNonNull(kept).put(b, array(arrays, b)));
    }
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Launch launch -> launch(launch, arguments, arrays, races);
        case Program.Memset(Buffer buffer, int value) ->
            Arrays.fill(array(arrays, buffer).bytes(), (byte) value);
      }
    }
  }

  private void launch(
      Program.Launch launch, Arguments arguments, Map<Buffer, NdArray> arrays, FindingSink races) {
    Kernel kernel = launch.kernel();
    Object[] values = new Object[launch.arguments().size()];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (launch.arguments().get(i)) {
            case Program.BufferArgument(Buffer buffer) ->
                seenAs((Buffer) kernel.params().get(i), array(arrays, buffer));
            case Program.ScalarArgument(var value) -> arguments.evaluate(value);
          };
    }
    Executor executor = Objects.requireNonNull(executors.get(kernel));
    executor.run(Arguments.inOrder(kernel.params(), values), races);
  }

  /** A kernel may see a row-major array in another shape. */
  private static NdArray seenAs(Buffer formal, NdArray array) {
    boolean constant = formal.shape().stream().allMatch(Expr.IntImm.class::isInstance);
    return constant && formal.layout() == null && array.layout() == null
        ? array.reshaped(
            formal.shape().stream().mapToLong(e -> ((Expr.IntImm) e).value()).toArray())
        : array;
  }

  private static NdArray array(Map<Buffer, NdArray> arrays, Buffer buffer) {
    NdArray array = arrays.get(buffer);
    if (array == null) {
      throw new IllegalArgumentException(
          "buffer " + buffer.name() + " is neither a parameter nor workspace of the program");
    }
    return array;
  }
}
