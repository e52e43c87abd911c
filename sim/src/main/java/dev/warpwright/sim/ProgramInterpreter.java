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
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Executes the steps of a Program: grid kernels by the {@link GridInterpreter}, host kernels by the
 * {@link Interpreter}. Workspace starts poisoned, and does so again unless it is kept. Kernels are
 * compiled once.
 *
 * <p>A program for several devices has arguments for each. Its steps are done by one device after
 * the other, in memory of its own each; a sum over devices is formed in their order, and rounded to
 * the buffer's type after each addition.
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
  private @Nullable List<Map<Buffer, NdArray>> kept;

  private final Program program;
  private final Map<Kernel, Executor> executors = new IdentityHashMap<>();
  private final Map<Buffer, Program.View> views = new IdentityHashMap<>();

  /**
   * Compiles all kernels of a program.
   *
   * @param program of grid and host kernels
   * @param gridOptions how grid kernels are executed, and what is checked
   * @param hostOptions how host kernels are
   */
  public ProgramInterpreter(Program program, GridOptions gridOptions, Options hostOptions) {
    this.program = program;
    program.views().forEach(view -> views.put(view.view(), view));
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
   * must have the same scalars.
   *
   * @return this
   */
  public ProgramInterpreter keepingWorkspace() {
    kept =
        Stream.generate(IdentityHashMap<Buffer, NdArray>::new)
            .<Map<Buffer, NdArray>>map(map -> map)
            .limit(program.devices())
            .toList();
    return this;
  }

  /**
   * Runs all steps of a program, everything checked, blocks in order.
   *
   * @param program for one device
   * @param arguments for its parameters, whose arrays are read and written
   */
  public static void run(Program program, Arguments arguments) {
    new ProgramInterpreter(program, GridOptions.DEFAULT, Options.EXACT).run(arguments);
  }

  /**
   * {@return the parameters, as {@link Arguments} takes them}
   *
   * @param program any program
   */
  public static List<Param> params(Program program) {
    return program.params().stream().map(Program.ProgramParam::param).toList();
  }

  /**
   * Runs all steps on arguments for the program's parameters.
   *
   * @param arguments for the program's parameters
   * @throws SimulationError if a kernel does what the IR does not define
   * @throws IllegalArgumentException if the program is for several devices
   */
  public void run(Arguments arguments) {
    run(List.of(arguments));
  }

  /**
   * As {@link #run(Arguments)}, with arguments for each device.
   *
   * @param devices arguments for the program's parameters on each device
   */
  public void run(List<Arguments> devices) {
    execute(devices, FindingSink.THROWING);
  }

  /**
   * Runs and looks for all that is wrong: one race for each statement; a finding other than a race
   * ends the execution.
   *
   * @param arguments for the program's parameters
   * @return everything found; empty if nothing is wrong
   */
  public List<Finding> check(Arguments arguments) {
    return check(List.of(arguments));
  }

  /**
   * Runs on several devices as {@link #check(Arguments)} does on one.
   *
   * @param devices arguments for the program's parameters on each device
   * @return everything found; empty if nothing is wrong
   */
  public List<Finding> check(List<Arguments> devices) {
    return RaceCollector.collect(races -> execute(devices, races));
  }

  /**
   * {@return runs and counts what each launch of a grid kernel asks of the memories; caches are
   * empty before each} The options must be such that requests are counted.
   *
   * @param arguments for the program's parameters
   * @param caches behind which the device's memory lies
   * @throws SimulationError at the first finding
   */
  public List<KernelCounters> count(Arguments arguments, KernelCounters.Caches caches) {
    return count(arguments, kernel -> caches);
  }

  /**
   * {@return what {@link #count(Arguments, KernelCounters.Caches)} does, with caches of its own for
   * each kernel}
   *
   * @param arguments for the program's parameters
   * @param caches of each kernel
   */
  public List<KernelCounters> count(
      Arguments arguments, Function<Kernel, KernelCounters.Caches> caches) {
    List<KernelCounters> launches = new ArrayList<>();
    counted = new Counted(caches, launches);
    try {
      execute(List.of(arguments), FindingSink.THROWING);
    } finally {
      counted = null;
    }
    return launches;
  }

  private void execute(List<Arguments> devices, FindingSink races) {
    if (devices.size() != program.devices()) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "%s is a program for %d devices, and there are arguments for %d",
              program.name(),
              program.devices(),
              devices.size()));
    }
    List<Map<Buffer, NdArray>> memory = new ArrayList<>();
    for (int device = 0; device < devices.size(); device++) {
      memory.add(memory(devices.get(device), kept == null ? null : kept.get(device)));
    }
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Launch launch -> {
          for (int device = 0; device < devices.size(); device++) {
            launch(launch, devices.get(device), memory.get(device), races);
          }
        }
        case Program.Memset(Buffer buffer, int value) ->
            memory.forEach(m -> fill(m, buffer, value));
        case Program.Carry(Buffer from, Buffer to) -> memory.forEach(m -> carry(m, from, to));
        case Program.AllReduce(Buffer buffer) -> sum(memory, buffer);
      }
    }
  }

  private Map<Buffer, NdArray> memory(Arguments arguments, @Nullable Map<Buffer, NdArray> left) {
    Map<Buffer, NdArray> arrays = new IdentityHashMap<>();
    for (Param p : params(program)) {
      if (p instanceof Buffer b) {
        arrays.put(b, arguments.get(b));
      }
    }
    Set<Buffer> zero = program.counters();
    for (Buffer b : program.workspace()) {
      NdArray before = left == null ? null : left.get(b);
      arrays.put(b, before == null ? fresh(b, arguments, zero.contains(b)) : before);
    }
    if (left != null) {
      program.workspace().forEach(b -> left.put(b, array(arrays, b)));
    }
    return arrays;
  }

  private static NdArray fresh(Buffer buffer, Arguments arguments, boolean zero) {
    NdArray array = NdArray.of(buffer, arguments.shape(buffer));
    return zero ? array.fill(0) : array.poison();
  }

  private void fill(Map<Buffer, NdArray> arrays, Buffer buffer, int value) {
    NdArray array = array(arrays, buffer);
    Arrays.fill(array.bytes(), (byte) value);
    putBack(arrays, buffer, array);
  }

  private void carry(Map<Buffer, NdArray> arrays, Buffer from, Buffer to) {
    NdArray array = array(arrays, to);
    System.arraycopy(array(arrays, from).bytes(), 0, array.bytes(), 0, array.bytes().length);
    putBack(arrays, to, array);
  }

  private void sum(List<Map<Buffer, NdArray>> memory, Buffer buffer) {
    NdArray sum = array(memory.getFirst(), buffer).copy();
    for (Map<Buffer, NdArray> other : memory.subList(1, memory.size())) {
      NdArray more = array(other, buffer);
      for (int i = 0; i < sum.size(); i++) {
        sum.setElement(i, sum.element(i) + more.element(i));
      }
    }
    for (Map<Buffer, NdArray> each : memory) {
      NdArray array = array(each, buffer);
      System.arraycopy(sum.bytes(), 0, array.bytes(), 0, sum.bytes().length);
      putBack(each, buffer, array);
    }
  }

  private void launch(
      Program.Launch launch, Arguments arguments, Map<Buffer, NdArray> arrays, FindingSink races) {
    Kernel kernel = launch.kernel();
    Object[] values = new Object[launch.arguments().size()];
    Map<Buffer, NdArray> parts = new IdentityHashMap<>();
    for (int i = 0; i < values.length; i++) {
      values[i] =
          switch (launch.arguments().get(i)) {
            case Program.BufferArgument(Buffer buffer) -> {
              NdArray array = parts.computeIfAbsent(buffer, b -> array(arrays, b));
              yield seenAs((Buffer) kernel.params().get(i), array);
            }
            case Program.ScalarArgument(var value) -> arguments.evaluate(value);
          };
    }
    checkApart(kernel, parts.keySet());
    Executor executor = Objects.requireNonNull(executors.get(kernel));
    executor.run(Arguments.inOrder(kernel.params(), values), races);
    parts.forEach((buffer, array) -> putBack(arrays, buffer, array));
  }

  /** Views are copied before a launch and put back behind it: no two may share memory. */
  private void checkApart(Kernel kernel, Set<Buffer> arguments) {
    for (Buffer one : arguments) {
      for (Buffer other : arguments) {
        Program.View view = views.get(one);
        if (view == null || one == other) {
          continue;
        }
        Program.View second = views.get(other);
        long end = view.first() + one.extent(0);
        boolean shares =
            second == null
                ? other == view.of()
                : second.of() == view.of()
                    && second.first() < end
                    && view.first() < second.first() + other.extent(0);
        if (shares) {
          throw new IllegalArgumentException(
              kernel.name()
                  + " is given '"
                  + one.name()
                  + "' and '"
                  + other.name()
                  + "', which share rows");
        }
      }
    }
  }

  /** What was done to a copy of rows is done to them; nothing for what is no view. */
  private void putBack(Map<Buffer, NdArray> arrays, Buffer buffer, NdArray array) {
    Program.View view = views.get(buffer);
    if (view != null) {
      byte[] all = array(arrays, view.of()).bytes();
      System.arraycopy(array.bytes(), 0, all, place(view), array.bytes().length);
    }
  }

  /** Where the rows of a view begin, in bytes. */
  private static int place(Program.View view) {
    long row = view.of().storageElements() / view.of().extent(0) * view.of().dtype().bytes();
    return Math.toIntExact(view.first() * row);
  }

  /** A kernel may see a row-major array in another shape. */
  private static NdArray seenAs(Buffer formal, NdArray array) {
    boolean constant = formal.shape().stream().allMatch(Expr.IntImm.class::isInstance);
    return constant && formal.layout() == null && array.layout() == null
        ? array.reshaped(
            formal.shape().stream().mapToLong(e -> ((Expr.IntImm) e).value()).toArray())
        : array;
  }

  /** The array of a buffer; of a view a copy of its rows. */
  private NdArray array(Map<Buffer, NdArray> arrays, Buffer buffer) {
    Program.View view = views.get(buffer);
    if (view != null) {
      NdArray rows = NdArray.of(buffer);
      byte[] all = array(arrays, view.of()).bytes();
      System.arraycopy(all, place(view), rows.bytes(), 0, rows.bytes().length);
      return rows;
    }
    NdArray array = arrays.get(buffer);
    if (array == null) {
      throw new IllegalArgumentException(
          "buffer " + buffer.name() + " is neither a parameter nor workspace of the program");
    }
    return array;
  }
}
