package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.measure.data.KernelData;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.Options;
import dev.warpwright.sim.Verification;
import dev.warpwright.sim.api.SimulationError;
import dev.warpwright.verify.RoundingTolerance;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A scheduled kernel's results beside those of the function that was scheduled, on the same random
 * data: the kernel in the simulator (or the interpreter, for the CPU), the function in the
 * interpreter.
 *
 * @param function its name
 * @param arrays one for each buffer, in the order of the parameters
 */
record FunctionComparison(String function, List<OfArray> arrays) {
  /**
   * One array.
   *
   * @param relError ‖kernel − function‖ / ‖function‖
   * @param tolerance that rounding in another order explains
   */
  record OfArray(String name, boolean sameBits, double relError, double tolerance, boolean ok) {}

  FunctionComparison {
    arrays = List.copyOf(arrays);
  }

  /**
   * Runs both.
   *
   * @throws UserError if one of them cannot be run on such data
   */
  static FunctionComparison of(
      PrimFunc function, Kernel kernel, Map<String, Long> scalars, long seed) {
    Arguments right = KernelData.random(function.params(), scalars, seed);
    Arguments result = bound(kernel.params(), right, scalars);
    try {
      run(kernel, result);
      Interpreter.of(function, Options.EXACT).run(right);
    } catch (SimulationError | IllegalArgumentException e) {
      throw new UserError(kernel.name() + " cannot be run: " + e.getMessage(), e);
    }
    List<OfArray> arrays = new ArrayList<>();
    for (Param param : function.params()) {
      if (param instanceof Buffer buffer) {
        Verification difference =
            Verification.compare(result.get(buffer.name()), right.get(buffer));
        double tolerance = RoundingTolerance.of(kernel, buffer);
        boolean same = result.get(buffer.name()).sameBits(right.get(buffer));
        arrays.add(
            new OfArray(
                buffer.name(),
                same,
                difference.relError(),
                tolerance,
                same || difference.within(tolerance)));
      }
    }
    return new FunctionComparison(function.name(), arrays);
  }

  /** The arrays of other parameters of the same names, copied. */
  static Arguments bound(List<Param> params, Arguments from, Map<String, Long> scalars) {
    Arguments arguments = Arguments.of(params);
    for (Param param : params) {
      switch (param) {
        case Buffer buffer -> arguments.bind(buffer, from.get(buffer.name()).copy());
        case ScalarParam scalar -> {
          Long value = scalars.get(scalar.name());
          if (value != null) {
            arguments.bind(scalar.var(), value);
          }
        }
      }
    }
    return arguments;
  }

  /** The arrays of other parameters of the same names, themselves. */
  static Arguments sharing(List<Param> params, Arguments from) {
    Arguments arguments = Arguments.of(params);
    for (Param param : params) {
      if (param instanceof Buffer buffer) {
        arguments.bind(buffer, from.get(buffer.name()));
      }
    }
    return arguments;
  }

  /** Runs a kernel on the processor at hand, whatever it is for. */
  static void run(Kernel kernel, Arguments arguments) {
    switch (kernel.kind()) {
      case HOST -> Interpreter.of(kernel, Options.EXACT).run(arguments);
      case GRID -> new GridInterpreter(kernel, GridOptions.DEFAULT).run(arguments);
    }
  }

  boolean equal() {
    return arrays.stream().allMatch(OfArray::ok);
  }

  String text() {
    List<String> wrong = new ArrayList<>();
    boolean same = true;
    for (OfArray array : arrays) {
      same &= array.sameBits();
      if (!array.ok()) {
        wrong.add(
            String.format(
                Locale.ROOT, "%s has a relative error of %.2e", array.name(), array.relError()));
      }
    }
    return !wrong.isEmpty()
        ? "WRONG: not what the function " + function + " computes: " + String.join(", ", wrong)
        : same
            ? "the same results as the function " + function + ", bit by bit"
            : "the same results as the function " + function + ", up to rounding";
  }

  Json json() {
    return Json.object()
        .with("name", function)
        .with("equal", equal())
        .with(
            "arrays",
            Json.array(
                arrays,
                array ->
                    Json.object()
                        .with("name", array.name())
                        .with("sameBits", array.sameBits())
                        .with("relError", array.relError())
                        .with("tolerance", array.tolerance())));
  }
}
