package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.buffer.TensorBuffer;
import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.jvm.BoundFunction;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.JvmWarmUp;
import dev.warpwright.jvm.Parallel;
import dev.warpwright.model.function.NetworkFunction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A program of host kernels on the JVM. It {@linkplain JvmWarmUp warms up} before it has spent more
 * time in slow code than that takes: at once for many rows, after some calls for few.
 */
public final class HostExecutable implements Executable {
  /** Time in slow code that is not worth a warm-up. */
  private static final long PATIENCE_NANOS = Duration.ofMillis(20).toNanos();

  /** About what a multiply-add costs in slow code. */
  private static final long SLOW_NANOS = 10;

  /** One step of the program. */
  sealed interface Step {
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
  private final List<Buffer> outputs;
  private final long rowWork;
  private final Map<Buffer, Integer> places = new HashMap<>();
  private final Object[] arrays;
  private final List<Step> steps = new ArrayList<>();
  private final AtomicBoolean warmedUp = new AtomicBoolean();
  private final HostWorkspace first;

  /** Time in slow code so far; threads may lose what others add, and warm up a little later. */
  private volatile long spentNanos;

  private volatile boolean closed;

  public HostExecutable(CompiledProgram compiled, ConstantStore constants, Parallel parallel) {
    NetworkFunction network = compiled.network();
    this.program = compiled.program();
    this.rowsVar = network.rows().var();
    this.inputs = network.inputs();
    this.outputs = network.outputs();
    this.parallel = parallel;
    this.rowWork = network.products().stream().mapToLong(p -> p.n() * p.k()).sum();
    for (Program.Step step : program.steps()) {
      steps.add(
          switch (step) {
            case Program.Memset(Buffer buffer, int value) -> new Step.Fill(place(buffer), value);
            case Program.Launch launch -> launch(launch);
            case Program.Carry(Buffer from, Buffer to) ->
                throw new IllegalArgumentException(
                    from.name() + " carried to " + to.name() + ": host kernels write all of it");
            case Program.AllReduce sum -> throw sum.alone();
          });
    }
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
    this.first = new HostWorkspace(this);
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

  // ---- what workspaces share ---------------------------------------------------------------

  List<Buffer> inputs() {
    return inputs;
  }

  List<Buffer> outputs() {
    return outputs;
  }

  /** The program's buffers between its kernels. */
  List<Buffer> scratch() {
    return program.workspace();
  }

  List<Step> steps() {
    return steps;
  }

  Var rowsVar() {
    return rowsVar;
  }

  Parallel parallel() {
    return parallel;
  }

  /** Where a buffer's array lies among all; negative if no kernel uses it. */
  int placeOf(Buffer buffer) {
    return places.getOrDefault(buffer, -1);
  }

  /** The constants in their places, and empty arrays in the others; a new array. */
  Object[] constants() {
    return arrays.clone();
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the program is closed");
    }
  }

  /** Whether the JVM has compiled the kernels thoroughly, or another thread has it do so. */
  boolean isRehearsed() {
    return warmedUp.getPlain();
  }

  /** Whether a run of so many rows in slow code is worse than a warm-up. */
  boolean isWorthRehearsing(int rows) {
    return spentNanos + SLOW_NANOS * rowWork * rows > PATIENCE_NANOS;
  }

  void warmUp(List<BoundFunction> kernels) {
    if (warmedUp.compareAndSet(false, true)) {
      JvmWarmUp.run(kernels, parallel);
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // Lost time only delays the warm-up.
  void spent(long nanos) {
    spentNanos += nanos;
  }

  // ---- for everybody -----------------------------------------------------------------------

  @Override
  public Workspace newWorkspace() {
    checkOpen();
    return new HostWorkspace(this);
  }

  @Override
  public void run(int rows, List<float[]> in, List<float[]> out) {
    out.forEach(array -> Arrays.fill(array, Float.NaN));
    first.run(rows, tensors(in), tensors(out));
  }

  /**
   * Runs, but so that the next run is a fast one.
   *
   * @param in one array for each input, with values as they may occur
   */
  public void prepare(int rows, List<float[]> in, List<float[]> out) {
    first.prepare(rows, tensors(in), tensors(out));
  }

  static TensorBuffer[] tensors(List<float[]> arrays) {
    return arrays.stream().map(TensorBuffer::of).toArray(TensorBuffer[]::new);
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
    return first.time(repetitions);
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  @Override
  public List<KernelFacts> kernelFacts() {
    return steps.stream()
        .filter(Step.Launch.class::isInstance)
        .map(Step.Launch.class::cast)
        .map(
            l ->
                new KernelFacts(
                    l.function().kernel().name(), List.of(1L, 1L, 1L), List.of(1, 1, 1), 0, 0))
        .toList();
  }

  @Override
  public void close() {
    closed = true;
    first.close();
    Arrays.fill(arrays, new byte[0]);
  }
}
