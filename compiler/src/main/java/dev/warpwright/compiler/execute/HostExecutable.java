package dev.warpwright.compiler.execute;

import dev.warpwright.compiler.program.CompiledProgram;
import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarEval;
import dev.warpwright.ir.Var;
import dev.warpwright.jvm.HostCompiler;
import dev.warpwright.jvm.HostFunction;
import dev.warpwright.jvm.Parallel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A program of host kernels on the JVM. */
public final class HostExecutable implements Executable {
  private final Program program;
  private final Var rowsVar;
  private final Parallel parallel;
  private final Map<Buffer, Object> arrays = new HashMap<>();
  private final List<HostFunction> functions = new ArrayList<>();
  private final List<Buffer> inputs;
  private final List<Buffer> outputs;
  private int rows = -1;

  public HostExecutable(CompiledProgram compiled, ConstantStore constants, Parallel parallel) {
    this.program = compiled.program();
    this.rowsVar = compiled.network().rows().var();
    this.inputs = compiled.network().inputs();
    this.outputs = compiled.network().outputs();
    this.parallel = parallel;
    for (PackedConstant constant : compiled.constants()) {
      arrays.put(constant.buffer(), constants.array(constant));
    }
    for (Program.Step step : program.steps()) {
      if (step instanceof Program.Launch launch) {
        functions.add(HostCompiler.compile(launch.kernel()));
      }
    }
  }

  @Override
  public void run(int newRows, List<float[]> in, List<float[]> out) {
    Map<Var, Long> scalars = Map.of(rowsVar, (long) newRows);
    for (int i = 0; i < inputs.size(); i++) {
      Buffer buffer = inputs.get(i);
      arrays.put(buffer, HostArrays.from(in.get(i), buffer.dtype()));
    }
    for (int i = 0; i < outputs.size(); i++) {
      arrays.put(outputs.get(i), out.get(i));
    }
    for (Buffer buffer : program.workspace()) {
      long elements = elements(buffer, scalars);
      Object old = arrays.get(buffer);
      if (old == null || HostArrays.length(old) < elements) {
        arrays.put(buffer, HostArrays.allocate(buffer.dtype(), elements, buffer.name()));
      }
    }
    rows = newRows;
    if (newRows > 0) {
      execute(new long[functions.size()]);
    }
  }

  /** Runs every step; {@code nanos} takes the time of each launch. */
  private void execute(long[] nanos) {
    Map<Var, Long> scalars = Map.of(rowsVar, (long) rows);
    int launch = 0;
    for (Program.Step step : program.steps()) {
      switch (step) {
        case Program.Memset memset -> HostArrays.fill(array(memset.buffer()), memset.value());
        case Program.Launch(var kernel, var arguments) -> {
          List<Object> buffers = new ArrayList<>();
          List<Long> values = new ArrayList<>();
          for (int i = 0; i < arguments.size(); i++) {
            switch (arguments.get(i)) {
              case Program.BufferArgument(Buffer buffer) -> buffers.add(array(buffer));
              case Program.ScalarArgument(Expr value) ->
                  values.add(ScalarEval.eval(value, scalars));
            }
          }
          long start = System.nanoTime();
          functions
              .get(launch)
              .run(
                  buffers.toArray(),
                  values.stream().mapToLong(Long::longValue).toArray(),
                  parallel);
          nanos[launch++] = System.nanoTime() - start;
        }
      }
    }
  }

  private Object array(Buffer buffer) {
    Object array = arrays.get(buffer);
    if (array == null) {
      throw new IllegalStateException("buffer " + buffer.name() + " has no storage");
    }
    return array;
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
    if (rows <= 0) {
      return new Timing(0, functions.stream().map(f -> 0.0).toList());
    }
    double[] totals = new double[repetitions];
    double[][] each = new double[functions.size()][repetitions];
    long[] nanos = new long[functions.size()];
    for (int r = -1; r < repetitions; r++) {
      execute(nanos);
      if (r >= 0) {
        for (int k = 0; k < nanos.length; k++) {
          each[k][r] = nanos[k] / 1e3;
          totals[r] += nanos[k] / 1e3;
        }
      }
    }
    return new Timing(median(totals), Arrays.stream(each).map(HostExecutable::median).toList());
  }

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  @Override
  public List<KernelFacts> kernelFacts() {
    return functions.stream()
        .map(f -> new KernelFacts(f.kernel().name(), List.of(1L, 1L, 1L), List.of(1, 1, 1), 0, 0))
        .toList();
  }

  @Override
  public void close() {
    arrays.clear();
  }
}
