package dev.warpwright.workload.kernel;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Simplifier;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.arith.Specialization;
import dev.warpwright.ir.visit.Substitution;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Makes the kernel for one shape of a kernel for many: scalar parameters become constants, in the
 * shapes of buffers, in the launch and in the body, and disappear from the parameters.
 */
public final class KernelSpecialization {
  private KernelSpecialization() {}

  /**
   * Specializes.
   *
   * @param values of scalar parameters by name; those that are not named stay parameters
   * @throws UserError if a name is no scalar of the kernel, or a value is outside its range
   */
  public static Kernel specialize(Kernel kernel, Map<String, Long> values) {
    Map<Var, Expr> constants = new HashMap<>();
    values.forEach(
        (name, value) -> {
          ScalarParam scalar = scalar(kernel, name);
          checkRange(kernel, scalar, value);
          constants.put(scalar.var(), new Expr.IntImm(scalar.var().type(), value));
        });
    Specialization fixed = Specialization.of(constants, kernel.buffers(), kernel.body());
    List<Param> params = new ArrayList<>();
    for (Param param : kernel.params()) {
      switch (param) {
        case Buffer buffer -> params.add(fixed.of(buffer));
        case ScalarParam scalar when constants.containsKey(scalar.var()) -> {}
        case ScalarParam scalar -> params.add(scalar);
      }
    }
    Bounds bounds = Simplify.ofParams(params);
    List<ThreadBinding> bindings =
        kernel.bindings().stream()
            .map(
                b ->
                    new ThreadBinding(
                        b.axis(), b.var(), simplified(b.extent(), fixed.substitution(), bounds)))
            .toList();
    return Simplify.kernel(
        new Kernel(
            kernel.name(),
            kernel.kind(),
            params,
            bindings,
            fixed.substitution().stmt(kernel.body()),
            kernel.attrs()));
  }

  private static Expr simplified(Expr e, Substitution substitution, Bounds bounds) {
    return new Simplifier(bounds).expr(substitution.expr(e));
  }

  private static ScalarParam scalar(Kernel kernel, String name) {
    return kernel.scalars().stream()
        .filter(s -> s.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UserError(
                    "kernel "
                        + kernel.name()
                        + " has no scalar "
                        + name
                        + "; it has "
                        + (kernel.scalars().isEmpty() ? "none" : names(kernel))));
  }

  private static String names(Kernel kernel) {
    return kernel.scalars().stream().map(ScalarParam::name).collect(Collectors.joining(", "));
  }

  private static void checkRange(Kernel kernel, ScalarParam scalar, long value) {
    if (value < scalar.min() || value > scalar.max()) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s=%d: kernel %s takes %d to %d",
              scalar.name(),
              value,
              kernel.name(),
              scalar.min(),
              scalar.max()));
    }
  }
}
