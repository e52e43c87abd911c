package dev.warpwright.ir.arith;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * An index as {@code Σ coefficient · variable + base}, where the base does not mention the
 * variables.
 *
 * @param coefficients of the variables that occur, none 0, in order of occurrence
 * @param base the rest: a constant if the expression is affine in nothing else
 */
public record Affine(SequencedMap<Var, Long> coefficients, Expr base) {
  public Affine {
    coefficients = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(coefficients));
  }

  /**
   * The linear form of a scalar {@code i32} or {@code i64} expression in the given variables; empty
   * if it is not affine in them. Simplify the expression first: {@code (x * 4 + y) / 4} is affine
   * only to those who know y.
   */
  public static Optional<Affine> of(Expr e, Collection<Var> vars) {
    if (!LinearForm.applies(e.type())) {
      return Optional.empty();
    }
    LinearForm sum = LinearForm.of(e);
    LinkedHashMap<Var, Long> coefficients = new LinkedHashMap<>();
    for (Map.Entry<Expr, Long> term : sum.terms().entrySet()) {
      if (term.getKey() instanceof Var v && vars.contains(v)) {
        coefficients.put(v, term.getValue());
      } else if (mentions(term.getKey(), vars)) {
        return Optional.empty();
      }
    }
    LinearForm base = sum.part(t -> !coefficients.containsKey(t.getKey()), sum.constant());
    return Optional.of(new Affine(coefficients, base.toExpr()));
  }

  /** The linear form in all its variables; empty if other terms occur. */
  public static Optional<Affine> of(Expr e) {
    if (!LinearForm.applies(e.type())) {
      return Optional.empty();
    }
    return of(
            e,
            LinearForm.of(e).terms().keySet().stream()
                .filter(Var.class::isInstance)
                .map(Var.class::cast)
                .toList())
        .filter(affine -> affine.base() instanceof Expr.IntImm);
  }

  /** The coefficient of a variable, 0 if it does not occur. */
  public long coefficient(Var v) {
    return coefficients.getOrDefault(v, 0L);
  }

  /** The expression again. */
  public Expr toExpr() {
    LinearForm sum = LinearForm.of(base).times(0);
    coefficients.forEach(sum::add);
    sum.add(base, 1);
    return sum.toExpr();
  }

  /** Whether any of the variables occurs in the expression. */
  public static boolean mentions(Expr e, Collection<Var> vars) {
    boolean[] found = {false};
    Walk.expressions(
        e,
        node -> {
          if (node instanceof Var v && vars.contains(v)) {
            found[0] = true;
          }
        });
    return found[0];
  }
}
