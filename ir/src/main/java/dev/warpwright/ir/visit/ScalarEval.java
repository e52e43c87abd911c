package dev.warpwright.ir.visit;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Var;
import java.util.Map;

/**
 * Evaluates integer expressions of scalars: grid extents, buffer extents, arguments of launches.
 */
public final class ScalarEval extends Rewriter {
  private final Map<Var, Long> values;

  private ScalarEval(Map<Var, Long> values) {
    this.values = values;
  }

  /**
   * {@return the value of an integer expression}
   *
   * @param e of integer operators
   * @param values of its variables
   * @throws IllegalArgumentException if the expression uses something else than these variables and
   *     integer operators, or divides by zero
   */
  public static long eval(Expr e, Map<Var, Long> values) {
    if (new ScalarEval(values).expr(e) instanceof Expr.IntImm imm) {
      return imm.value();
    }
    throw new IllegalArgumentException(e + " is no integer expression of " + values.keySet());
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Var v && values.get(v) instanceof Long value) {
      return new Expr.IntImm(v.type(), value);
    }
    return switch (super.expr(e)) {
      case Expr.Binary b -> Exprs.fold(b.op(), b.a(), b.b());
      case Expr.Select s -> Exprs.select(s.condition(), s.then(), s.otherwise());
      case Expr other -> other;
    };
  }
}
