package dev.warpwright.cli.program;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.arith.Specialization;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A function for one shape: its scalars become constants. */
final class FunctionShape {
  private FunctionShape() {}

  /**
   * Makes it.
   *
   * @param values of all scalars by name
   * @throws UserError if one is missing, unknown or out of range
   */
  static PrimFunc of(PrimFunc function, Map<String, Long> values) {
    Map<Var, Expr> constants = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (ScalarParam scalar : function.scalars()) {
      Long value = values.get(scalar.name());
      names.add(scalar.name());
      if (value == null) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "%s: no value for %s; give %s=N",
                function.name(),
                scalar.name(),
                scalar.name()));
      }
      if (value < scalar.min() || value > scalar.max()) {
        throw new UserError(
            String.format(
                Locale.ROOT,
                "%s=%d: %s takes %d to %d",
                scalar.name(),
                value,
                function.name(),
                scalar.min(),
                scalar.max()));
      }
      constants.put(scalar.var(), new Expr.IntImm(scalar.var().type(), value));
    }
    for (String name : values.keySet()) {
      if (!names.contains(name)) {
        throw new UserError(
            name
                + "=: "
                + function.name()
                + " has no such scalar; it has "
                + (names.isEmpty() ? "none" : String.join(", ", names)));
      }
    }
    if (constants.isEmpty()) {
      return function;
    }
    Specialization fixed = Specialization.of(constants, function.buffers(), function.body());
    List<Param> params = new ArrayList<>();
    for (Param param : function.params()) {
      if (param instanceof Buffer buffer) {
        params.add(fixed.of(buffer));
      }
    }
    return Simplify.primFunc(
        new PrimFunc(
            function.name(), params, fixed.substitution().stmt(function.body()), function.attrs()));
  }

  /** How often blocks of the function are executed, all together. */
  static double work(PrimFunc function) {
    double[] sum = {0};
    Walk.statements(
        function.body(),
        s -> {
          if (s instanceof Stmt.Block block) {
            double times = 1;
            for (var iterVar : block.iterVars()) {
              times *= iterVar.extent() instanceof Expr.IntImm n ? n.value() : 1;
            }
            sum[0] += times;
          }
        });
    return sum[0];
  }
}
