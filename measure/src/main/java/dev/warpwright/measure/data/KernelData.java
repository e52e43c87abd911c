package dev.warpwright.measure.data;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.ProgramInterpreter;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;

/** Random arguments for programs in text. */
public final class KernelData {
  /** What a scalar is that nothing was said of, if its range has it. */
  private static final long USUAL = 64;

  private KernelData() {}

  /**
   * Values of the scalars: as given, else {@code first} for the first one, else 64.
   *
   * @throws UserError if a name is none of them, or a value is out of range
   */
  public static Map<String, Long> scalars(
      List<? extends Param> params, Map<String, Long> given, OptionalInt first) {
    Map<String, Long> values = new LinkedHashMap<>();
    for (Param param : params) {
      if (param instanceof ScalarParam scalar) {
        boolean isFirst = values.isEmpty();
        long usual = Math.clamp(USUAL, scalar.min(), scalar.max());
        long value = given.getOrDefault(scalar.name(), isFirst ? first.orElse((int) usual) : usual);
        if (value < scalar.min() || value > scalar.max()) {
          throw new UserError(
              String.format(
                  Locale.ROOT,
                  "%s = %d: the kernel is for %d to %d",
                  scalar.name(),
                  value,
                  scalar.min(),
                  scalar.max()));
        }
        values.put(scalar.name(), value);
      }
    }
    for (String name : given.keySet()) {
      if (!values.containsKey(name)) {
        throw new UserError(name + ": there is no such scalar; there are " + values.keySet());
      }
    }
    return values;
  }

  /**
   * Random arrays and the scalars.
   *
   * @throws UserError if they cannot be made, for example because an array is too large
   */
  public static Arguments random(
      List<? extends Param> params, Map<String, Long> scalars, long seed) {
    try {
      return Arguments.random(params, seed, scalars);
    } catch (IllegalArgumentException e) {
      throw new UserError("no random data for " + scalars + ": " + e.getMessage(), e);
    }
  }

  /** What the kernel's attributes say that its buffers hold. */
  public static Arguments of(BoundKernel bound, long seed) {
    Arguments arguments = Arguments.random(bound.kernel().params(), seed, Map.of());
    fill(arguments, bound.contents());
    return arguments;
  }

  /**
   * Random arrays for a kernel that does not say what it computes, but for its counters, which are
   * 0, and its table of tiles: with random ones it would compute nothing, or leave its arrays.
   *
   * @throws UserError if they cannot be made, for example because an array is too large
   */
  public static Arguments random(Kernel kernel, Map<String, Long> scalars, long seed) {
    Arguments arguments = random(kernel.params(), scalars, seed);
    fill(arguments, BoundKernel.known(kernel));
    return arguments;
  }

  private static void fill(Arguments arguments, Map<Buffer, BoundKernel.Content> contents) {
    contents.forEach(
        (buffer, content) -> {
          NdArray array = arguments.get(buffer);
          switch (content) {
            case BoundKernel.Content.Random random -> {}
            case BoundKernel.Content.Poison poison -> array.poison();
            case BoundKernel.Content.Zero zero -> array.fill(0);
            case BoundKernel.Content.Table(List<Integer> values) -> fill(array, values);
          }
        });
  }

  /** Random inputs of a program, its tables, and poisoned outputs. */
  public static Arguments of(
      Program program, Map<Buffer, List<Integer>> tables, Map<String, Long> scalars, long seed) {
    Arguments arguments = random(ProgramInterpreter.params(program), scalars, seed);
    for (Program.ProgramParam param : program.params()) {
      if (param.role() == Program.Role.OUTPUT) {
        arguments.get((Buffer) param.param()).poison();
      }
    }
    tables.forEach((buffer, values) -> fill(arguments.get(buffer), values));
    return arguments;
  }

  private static void fill(NdArray array, List<Integer> values) {
    for (int i = 0; i < values.size(); i++) {
      array.setIntegerElement(i, values.get(i));
    }
  }
}
