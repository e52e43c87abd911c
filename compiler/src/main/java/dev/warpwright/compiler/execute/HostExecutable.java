package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.jvm.BoundFunction;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.jvm.Rehearsal;
import dev.warpwright.model.function.NetworkFunction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A program of host kernels on the JVM. It {@linkplain Rehearsal rehearses} before it has spent
 * more time in slow code than that takes: at once for many rows, after some calls for few.
 */
public final class HostExecutable implements Executable {
  /** Time in slow code that is not worth a rehearsal. */
  private static final long PATIENCE_NANOS = Duration.ofMillis(20).toNanos();

  /** About what a multiply-add costs in slow code. */
  private static final long SLOW_NANOS = 10;

  /** One step of the program. */
  private sealed interface Step {
    /**
     * Runs a kernel.
     *
     * @param places of its arrays among all
     * @param values of its scalars, expressions of the row count
     */
    record Launch(HostFunction function, int[] places, List<Expr> values) implements Step {
      BoundFunction bind(Object[] arrays, Map<Var, Long> scalars) {
        return function.bind(
            Arrays.stream(places).mapToObj(place -> arrays[place]).toArray(),
            values.stream().mapToLong(value -> ScalarEval.eval(value, scalars)).toArray());
      }
    }

    /** Sets every byte of the array at a place. */
    record Fill(int place, int value) implements Step {}
  }

  private final Program program;
  private final Var rowsVar;
  private final Parallel parallel;
  private final List<Buffer> inputs;
  private final long rowWork;
  private final Map<Buffer, Integer> places = new HashMap<>();
  private final Object[] arrays;
  private final List<Step> steps = new ArrayList<>();

  /** The places of inputs and outputs; negative where no kernel uses one. */
  private final int[] inputPlaces;

  private final int[] outputPlaces;

  /** Whether inputs are rounded, to arrays of their own in every run. */
  private final boolean rounds;

  /** For each step a kernel with its arguments, or null for a filling. */
  private final @Nullable BoundFunction[] bound;

  private int rows = -1;
  private boolean rehearsed;
  private boolean closed;
  private long spentNanos;

  public HostExecutable(CompiledProgram compiled, ConstantStore constants, Parallel parallel) {
    NetworkFunction network = compiled.network();
    this.program = compiled.program();
    this.rowsVar = network.rows().var();
    this.inputs = network.inputs();
    this.parallel = parallel;
    this.rowWork = network.products().stream().mapToLong(p -> p.n() * p.k()).sum();
    for (Program.Step step : program.steps()) {
      steps.add(
          switch (step) {
            case Program.Memset(Buffer buffer, int value) -> new Step.Fill(place(buffer), value);
            case Program.Launch launch -> launch(launch);
          });
    }
    this.bound = new @Nullable BoundFunction[steps.size()];
    this.inputPlaces = inputs.stream().mapToInt(b -> places.getOrDefault(b, -1)).toArray();
    this.outputPlaces =
        network.outputs().stream().mapToInt(b -> places.getOrDefault(b, -1)).toArray();
    this.rounds = inputs.stream().anyMatch(input -> input.dtype() != DType.F32);
    Map<Buffer, PackedConstant> packed = new HashMap<>();
    compiled.constants().forEach(constant -> packed.put(constant.buffer(), constant));
    this.arrays = new Object[places.size()];
    places.forEach(
        (buffer, place) -> {
          PackedConstant constant = packed.get(buffer);
          arrays[place] =
              constant == null
                  ? HostArrays.allocate(buffer.dtype(), 0, buffer.name())
                  : constants.array(constant);
        });
  }

  private Step.Launch launch(Program.Launch step) {
    List<Integer> used = new ArrayList<>();
    List<Expr> values = new ArrayList<>();
    for (Program.Argument argument : step.arguments()) {
      switch (argument) {
        case Program.BufferArgument(Buffer buffer) -> used.add(place(buffer));
        case Program.ScalarArgument(Expr value) -> values.add(value);
      }
    }
    return new Step.Launch(
        HostCompiler.compile(step.kernel()),
        used.stream().mapToInt(Integer::intValue).toArray(),
        values);
  }

  private int place(Buffer buffer) {
    return places.computeIfAbsent(buffer, b -> places.size());
  }

  @Override
  public void run(int newRows, List<float[]> in, List<float[]> out) {
    bind(newRows, in, out);
    if (newRows == 0) {
      return;
    }
    if (rehearsed) {
      execute();
      return;
    }
    if (spentNanos + SLOW_NANOS * rowWork * newRows > PATIENCE_NANOS) {
      rehearse();
    }
    long start = System.nanoTime();
    execute();
    spentNanos += System.nanoTime() - start;
  }

  /**
   * Runs, but so that the next run is a fast one.
   *
   * @param in one array for each input, with values as they may occur
   */
  public void prepare(int newRows, List<float[]> in, List<float[]> out) {
    bind(newRows, in, out);
    if (newRows > 0) {
      rehearse();
      execute();
    }
  }

  private void rehearse() {
    if (!rehearsed) {
      rehearsed = true;
      Rehearsal.run(Arrays.stream(bound).filter(Objects::nonNull).toList(), parallel);
    }
  }

  /** Has the launches use these arrays, unless they do. */
  private void bind(int newRows, List<float[]> in, List<float[]> out) {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
    boolean same = newRows == rows;
    for (int i = 0; i < inputPlaces.length; i++) {
      same &= put(inputPlaces[i], rounds ? round(i, in.get(i)) : in.get(i));
    }
    for (int i = 0; i < outputPlaces.length; i++) {
      same &= put(outputPlaces[i], out.get(i));
    }
    if (same) {
      return;
    }
    rows = newRows;
    Map<Var, Long> scalars = Map.of(rowsVar, (long) newRows);
    for (Buffer buffer : program.workspace()) {
      long elements = elements(buffer, scalars);
      Integer place = places.get(buffer);
      if (place != null && HostArrays.length(arrays[place]) < elements) {
        arrays[place] = HostArrays.allocate(buffer.dtype(), elements, buffer.name());
      }
    }
    if (newRows > 0) {
      for (int i = 0; i < bound.length; i++) {
        bound[i] = steps.get(i) instanceof Step.Launch launch ? launch.bind(arrays, scalars) : null;
      }
    }
  }

  private Object round(int input, float[] values) {
    return HostArrays.from(values, inputs.get(input).dtype());
  }

  /** Puts an array in its place; false if another one was there. */
  private boolean put(int place, Object array) {
    if (place < 0 || arrays[place] == array) {
      return true;
    }
    arrays[place] = array;
    return false;
  }

  private void execute() {
    for (int i = 0; i < bound.length; i++) {
      execute(i);
    }
  }

  private void execute(int step) {
    BoundFunction launch = bound[step];
    if (launch != null) {
      launch.run(parallel);
    } else if (steps.get(step) instanceof Step.Fill(int place, int value)) {
      HostArrays.fill(arrays[place], value);
    }
  }

  static long elements(Buffer buffer, Map<Var, Long> scalars) {
    long count = 1;
    for (Expr extent : buffer.shape()) {
      count = Math.multiplyExact(count, ScalarEval.eval(extent, scalars));
    }
    return count;
  }

  @Override
  public Timing time(int repetitions) {
    List<Step.Launch> launches = launches();
    if (rows <= 0) {
      return new Timing(0, launches.stream().map(f -> 0.0).toList());
    }
    rehearse();
    double[] totals = new double[repetitions];
    double[][] each = new double[launches.size()][repetitions];
    for (int r = -1; r < repetitions; r++) {
      int launch = 0;
      for (int i = 0; i < bound.length; i++) {
        long start = System.nanoTime();
        execute(i);
        double micros = (System.nanoTime() - start) / 1e3;
        if (r >= 0) {
          totals[r] += micros;
          if (bound[i] != null) {
            each[launch++][r] = micros;
          }
        }
      }
    }
    return new Timing(median(totals), Arrays.stream(each).map(HostExecutable::median).toList());
  }

  private List<Step.Launch> launches() {
    return steps.stream()
        .filter(Step.Launch.class::isInstance)
        .map(Step.Launch.class::cast)
        .toList();
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  @Override
  public List<KernelFacts> kernelFacts() {
    return launches().stream()
        .map(
            l ->
                new KernelFacts(
                    l.function().kernel().name(), List.of(1L, 1L, 1L), List.of(1, 1, 1), 0, 0))
        .toList();
  }

  @Override
  public void close() {
    closed = true;
    Arrays.fill(arrays, new byte[0]);
    Arrays.fill(bound, null);
    rows = -1;
  }
}
