package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * {@code Σ coefficient · term + constant} of one scalar {@code i32} or {@code i64} type; terms are
 * expressions that are no sums themselves. Coefficients wrap as the type does. Equal forms have
 * equal values.
 */
public final class LinearForm {
  private final Type type;
  private final LinkedHashMap<Expr, Long> terms = new LinkedHashMap<>();
  private long constant;

  private LinearForm(Type type) {
    this.type = type;
  }

  static boolean applies(Type type) {
    return type.equals(Type.I32) || type.equals(Type.I64);
  }

  public static LinearForm constant(Type type, long value) {
    LinearForm result = new LinearForm(type);
    result.constant = value;
    return result;
  }

  /** The sum as it is written. */
  public static LinearForm of(Expr e) {
    LinearForm result = new LinearForm(e.type());
    result.add(e, 1);
    return result;
  }

  Type type() {
    return type;
  }

  /** The terms and their coefficients, none 0. */
  public Map<Expr, Long> terms() {
    return Collections.unmodifiableMap(terms);
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

  long coefficient(Expr term) {
    return terms.getOrDefault(term, 0L);
  }

  /** Adds {@code factor · e}. */
  void add(Expr e, long factor) {
    switch (e) {
      case Expr.IntImm imm -> constant = wrap(constant + factor * imm.value());
      case Expr.Binary(BinaryOp op, Expr a, Expr b) when op == BinaryOp.ADD -> {
        add(a, factor);
        add(b, factor);
      }
      case Expr.Binary(BinaryOp op, Expr a, Expr b) when op == BinaryOp.SUB -> {
        add(a, factor);
        add(b, -factor);
      }
      case Expr.Binary(BinaryOp op, Expr a, Expr.IntImm b) when op == BinaryOp.MUL ->
          add(a, wrap(factor * b.value()));
      case Expr.Binary(BinaryOp op, Expr.IntImm a, Expr b) when op == BinaryOp.MUL ->
          add(b, wrap(factor * a.value()));
      case Expr.Unary(UnaryOp op, Expr a) when op == UnaryOp.NEG -> add(a, -factor);
      default -> {
        long sum = wrap(coefficient(e) + factor);
        if (sum == 0) {
          terms.remove(e);
        } else {
          terms.put(e, sum);
        }
      }
    }
  }

  void add(LinearForm other, long factor) {
    other.terms.forEach((term, coefficient) -> add(term, wrap(coefficient * factor)));
    constant = wrap(constant + factor * other.constant);
  }

  LinearForm copy() {
    return plus(constant(type, 0), 1);
  }

  /** {@code this + factor · other}, a new one. */
  LinearForm plus(LinearForm other, long factor) {
    LinearForm result = new LinearForm(type);
    result.terms.putAll(terms);
    result.constant = constant;
    result.add(other, factor);
    return result;
  }

  public LinearForm times(long factor) {
    return constant(type, 0).plus(this, factor);
  }

  public LinearForm plus(LinearForm other) {
    return plus(other, 1);
  }

  public LinearForm plus(long offset) {
    return plus(constant(type, offset), 1);
  }

  public LinearForm minus(LinearForm other) {
    return plus(other, -1);
  }

  /** The terms that satisfy a condition, without the constant. */
  public LinearForm part(Predicate<Expr> keep) {
    return part(entry -> keep.test(entry.getKey()), 0);
  }

  /** Whether any term mentions one of the variables. */
  public boolean mentions(Collection<Var> variables) {
    return terms.keySet().stream().anyMatch(term -> Affine.mentions(term, variables));
  }

  /** Part of the terms, with another constant. */
  LinearForm part(Predicate<Map.Entry<Expr, Long>> keep, long newConstant) {
    LinearForm result = constant(type, newConstant);
    for (Map.Entry<Expr, Long> entry : terms.entrySet()) {
      if (keep.test(entry)) {
        result.terms.put(entry.getKey(), entry.getValue());
      }
    }
    return result;
  }

  /** Every coefficient and the constant divided, which must leave no remainder. */
  LinearForm dividedBy(long divisor) {
    LinearForm result = constant(type, constant / divisor);
    terms.forEach((term, coefficient) -> result.terms.put(term, coefficient / divisor));
    return result;
  }

  /** Greatest common divisor of the coefficients (not of the constant), 0 if there are none. */
  long gcd() {
    long g = 0;
    for (long coefficient : terms.values()) {
      g = gcd(g, coefficient);
    }
    return g;
  }

  static long gcd(long a, long b) {
    while (b != 0) {
      long rest = a % b;
      a = b;
      b = rest;
    }
    return Math.abs(a);
  }

  private long wrap(long value) {
    return IntegerMath.wrap(type.dtype(), value);
  }

  /** Positive terms in order, then negative ones, then the constant. */
  public Expr toExpr() {
    List<Map.Entry<Expr, Long>> ordered = new ArrayList<>();
    terms.entrySet().stream().filter(t -> t.getValue() > 0).forEach(ordered::add);
    terms.entrySet().stream().filter(t -> t.getValue() < 0).forEach(ordered::add);
    Expr sum = null;
    for (Map.Entry<Expr, Long> term : ordered) {
      long coefficient = term.getValue();
      if (sum == null) {
        sum = scaled(term.getKey(), coefficient);
      } else if (coefficient > 0) {
        sum = new Expr.Binary(BinaryOp.ADD, sum, scaled(term.getKey(), coefficient));
      } else {
        sum = new Expr.Binary(BinaryOp.SUB, sum, scaled(term.getKey(), wrap(-coefficient)));
      }
    }
    if (sum == null) {
      return new Expr.IntImm(type, constant);
    }
    if (constant == 0) {
      return sum;
    }
    return constant > 0
        ? new Expr.Binary(BinaryOp.ADD, sum, new Expr.IntImm(type, constant))
        : new Expr.Binary(BinaryOp.SUB, sum, new Expr.IntImm(type, wrap(-constant)));
  }

  private Expr scaled(Expr term, long coefficient) {
    return Exprs.mul(term, new Expr.IntImm(type, coefficient));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LinearForm l
        && type.equals(l.type)
        && constant == l.constant
        && terms.equals(l.terms);
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
