package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Type;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.Walk;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * An index as {@code constant + Σ coefficient · atom}. Atoms are variables, and what is not linear:
 * quotients, remainders and anything else, taken as they are. Equal forms have equal values; index
 * arithmetic does not overflow, as the IR demands.
 */
public final class Linear {
  private static final Linear ZERO = constant(0);

  private final Map<Expr, Long> terms;
  private final long constant;

  private Linear(Map<Expr, Long> terms, long constant) {
    this.terms = Collections.unmodifiableMap(terms);
    this.constant = constant;
  }

  public static Linear constant(long value) {
    return new Linear(new LinkedHashMap<>(), value);
  }

  private static Linear atom(Expr atom) {
    Map<Expr, Long> terms = new LinkedHashMap<>();
    terms.put(atom, 1L);
    return new Linear(terms, 0);
  }

  /** The form of an {@code i32} expression. */
  public static Linear of(Expr e) {
    return of(e, Ranges.NONE);
  }

  /** The form of an expression, quotients and remainders resolved where the ranges allow it. */
  public static Linear of(Expr e, Ranges ranges) {
    if (!e.type().equals(Type.I32)) {
      return atom(e);
    }
    if (e instanceof Expr.IntImm imm) {
      return constant(imm.value());
    }
    if (e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)) {
      if (op == BinaryOp.ADD) {
        return of(a, ranges).plus(of(b, ranges));
      }
      if (op == BinaryOp.SUB) {
        return of(a, ranges).minus(of(b, ranges));
      }
      if (op == BinaryOp.MUL) {
        Linear x = of(a, ranges);
        Linear y = of(b, ranges);
        if (y.isConstant()) {
          return x.times(y.constant);
        }
        if (x.isConstant()) {
          return y.times(x.constant);
        }
        return atom(Exprs.mul(x.toExpr(), y.toExpr()));
      }
      if ((op == BinaryOp.DIV || op == BinaryOp.MOD)
          && b instanceof Expr.IntImm by
          && by.value() > 0) {
        return divided(op, of(a, ranges), by.value(), ranges);
      }
    }
    return atom(e);
  }

  /** With {@code n = by · q + r}: {@code n / by = q + r / by} and {@code n % by = r % by}. */
  private static Linear divided(BinaryOp op, Linear n, long by, Ranges ranges) {
    Map<Expr, Long> quotient = new LinkedHashMap<>();
    Map<Expr, Long> rest = new LinkedHashMap<>();
    n.terms.forEach(
        (atom, factor) -> {
          if (factor % by == 0) {
            quotient.put(atom, factor / by);
          } else {
            rest.put(atom, factor);
          }
        });
    Linear q = new Linear(quotient, Math.floorDiv(n.constant, by));
    Linear r = new Linear(rest, Math.floorMod(n.constant, by));
    Span span = ranges.of(r);
    boolean digit = span != null && span.lo() >= 0 && span.hi() < by;
    if (op == BinaryOp.DIV) {
      return digit ? q : q.plus(atom(new Expr.Binary(op, r.toExpr(), Exprs.i32(by))));
    }
    return digit ? r : atom(new Expr.Binary(op, r.toExpr(), Exprs.i32(by)));
  }

  /** The expression in its linear form; the same meaning, usually shorter. */
  public static Expr simplify(Expr e, Ranges ranges) {
    return e.type().equals(Type.I32) ? of(e, ranges).toExpr() : e;
  }

  public Map<Expr, Long> terms() {
    return terms;
  }

  public long constant() {
    return constant;
  }

  public boolean isConstant() {
    return terms.isEmpty();
  }

  public boolean isConstant(long value) {
    return terms.isEmpty() && constant == value;
  }

  public Linear plus(Linear other) {
    Map<Expr, Long> sum = new LinkedHashMap<>(terms);
    other.terms.forEach((atom, factor) -> sum.merge(atom, factor, Math::addExact));
    sum.values().removeIf(factor -> factor == 0);
    return new Linear(sum, Math.addExact(constant, other.constant));
  }

  public Linear plus(long offset) {
    return plus(constant(offset));
  }

  public Linear minus(Linear other) {
    return plus(other.times(-1));
  }

  public Linear times(long factor) {
    if (factor == 0) {
      return ZERO;
    }
    Map<Expr, Long> scaled = new LinkedHashMap<>();
    terms.forEach((atom, f) -> scaled.put(atom, Math.multiplyExact(f, factor)));
    return new Linear(scaled, Math.multiplyExact(constant, factor));
  }

  /** The terms whose atoms satisfy the condition, without the constant. */
  public Linear part(Predicate<Expr> condition) {
    Map<Expr, Long> chosen = new LinkedHashMap<>();
    terms.forEach(
        (atom, factor) -> {
          if (condition.test(atom)) {
            chosen.put(atom, factor);
          }
        });
    return new Linear(chosen, 0);
  }

  /** Whether any atom mentions one of the variables. */
  public boolean mentions(Collection<Var> variables) {
    return terms.keySet().stream().anyMatch(atom -> mentions(atom, variables));
  }

  /** Whether an expression mentions one of the variables. */
  public static boolean mentions(Expr e, Collection<Var> variables) {
    boolean[] found = {false};
    Walk.expressions(
        e,
        x -> {
          if (x instanceof Var v && variables.contains(v)) {
            found[0] = true;
          }
        });
    return found[0];
  }

  public Expr toExpr() {
    Expr sum = null;
    for (Map.Entry<Expr, Long> term : terms.entrySet()) {
      long factor = term.getValue();
      if (sum == null) {
        sum = Exprs.mul(term.getKey(), factor);
      } else if (factor < 0) {
        sum = new Expr.Binary(BinaryOp.SUB, sum, Exprs.mul(term.getKey(), -factor));
      } else {
        sum = Exprs.add(sum, Exprs.mul(term.getKey(), factor));
      }
    }
    return sum == null ? Exprs.i32(constant) : Exprs.add(sum, constant);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Linear l && constant == l.constant && terms.equals(l.terms);
  }

  @Override
  public int hashCode() {
    return Objects.hash(terms, constant);
  }

  @Override
  public String toString() {
    return terms + " + " + constant;
  }
}
