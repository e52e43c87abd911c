package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import java.util.Map;
import java.util.TreeSet;

/**
 * Floor division and remainder of sums by constants. In the comments, r stands for a rest with 0 ≤
 * r &lt; g, and everything is exact for floor semantics, negative numbers included.
 */
final class Quotients {
  private final Bounds bounds;

  Quotients(Bounds bounds) {
    this.bounds = bounds;
  }

  /** {@code floor(sum / c)}, c ≠ 0. */
  LinearForm divide(LinearForm sum, long c) {
    if (c < 0) {
      return c == Long.MIN_VALUE ? atom(BinaryOp.DIV, sum, c) : divide(sum.times(-1), -c);
    }
    if (c == 1) {
      return sum;
    }
    // (c·A + R) / c = A + R / c
    LinearForm whole =
        sum.part(t -> t.getValue() % c == 0, sum.constant() - Math.floorMod(sum.constant(), c))
            .dividedBy(c);
    LinearForm rest = sum.part(t -> t.getValue() % c != 0, Math.floorMod(sum.constant(), c));
    if (rest.isConstant()) {
      return whole;
    }
    Interval range = bounds.of(rest);
    if (range.isBounded() && Math.floorDiv(range.min(), c) == Math.floorDiv(range.max(), c)) {
      return whole.plus(LinearForm.constant(sum.type(), Math.floorDiv(range.min(), c)), 1);
    }
    // (g·A + r) / (g·m) = A / m
    for (long g : commonFactors(rest, c)) {
      if (isSmall(rest, g)) {
        LinearForm reduced = multiplesOf(rest, g).dividedBy(g);
        return whole.plus(divide(reduced, c / g), 1);
      }
    }
    // (x / a) / c = x / (a·c)
    if (rest.constant() == 0
        && rest.terms().size() == 1
        && rest.terms().entrySet().iterator().next() instanceof Map.Entry<Expr, Long> only
        && only.getValue() == 1
        && only.getKey() instanceof Expr.Binary(BinaryOp op, Expr x, Expr.IntImm a)
        && op == BinaryOp.DIV
        && a.value() > 0
        && Math.multiplyHigh(a.value(), c) == 0
        && Interval.ofType(sum.type().dtype()).contains(a.value() * c)
        && a.value() * c > 0) {
      return whole.plus(divide(LinearForm.of(x), a.value() * c), 1);
    }
    return whole.plus(atom(BinaryOp.DIV, rest, c), 1);
  }

  /** {@code sum - c · floor(sum / c)}, c ≠ 0. */
  LinearForm remainder(LinearForm sum, long c) {
    if (c < 0) {
      return c == Long.MIN_VALUE
          ? atom(BinaryOp.MOD, sum, c)
          : remainder(sum.times(-1), -c).times(-1);
    }
    if (c == 1) {
      return LinearForm.constant(sum.type(), 0);
    }
    // (c·A + R) % c = R % c, and coefficients matter modulo c only
    LinearForm rest = LinearForm.constant(sum.type(), Math.floorMod(sum.constant(), c));
    boolean changed = false;
    for (Map.Entry<Expr, Long> term : sum.terms().entrySet()) {
      // ((x % a) ± …) % c = (x ± …) % c if c divides a
      long coefficient = term.getValue() % c;
      if (Math.abs(coefficient) == 1
          && term.getKey() instanceof Expr.Binary(BinaryOp op, Expr x, Expr.IntImm a)
          && op == BinaryOp.MOD
          && a.value() != 0
          && a.value() % c == 0) {
        rest.add(LinearForm.of(x), coefficient);
        changed = true;
      } else {
        rest.add(term.getKey(), coefficient);
      }
    }
    if (changed) {
      return remainder(rest, c);
    }
    if (rest.isConstant()) {
      return rest;
    }
    Interval range = bounds.of(rest);
    if (range.isBounded() && Math.floorDiv(range.min(), c) == Math.floorDiv(range.max(), c)) {
      long below = Math.floorDiv(range.min(), c) * c;
      return rest.plus(LinearForm.constant(sum.type(), below), -1);
    }
    // (g·A + r) % (g·m) = g·(A % m) + r
    for (long g : commonFactors(rest, c)) {
      if (isSmall(rest, g)) {
        LinearForm small = rest.part(t -> t.getValue() % g != 0, Math.floorMod(rest.constant(), g));
        LinearForm reduced = multiplesOf(rest, g).dividedBy(g);
        return remainder(reduced, c / g).times(g).plus(small, 1);
      }
    }
    return atom(BinaryOp.MOD, rest, c);
  }

  /** {@code a·k·(x / a) + k·(x % a) = k·x}, and {@code x - a·(x / a) = x % a}. */
  LinearForm recombined(LinearForm sum) {
    for (Map.Entry<Expr, Long> term : sum.terms().entrySet()) {
      if (!(term.getKey() instanceof Expr.Binary(BinaryOp op, Expr x, Expr.IntImm a))
          || a.value() == 0) {
        continue;
      }
      long k = term.getValue();
      if (op == BinaryOp.MOD) {
        Expr quotient = new Expr.Binary(BinaryOp.DIV, x, a);
        long wanted = k * a.value();
        if (sum.coefficient(quotient) == wanted) {
          LinearForm next = sum.copy();
          next.add(term.getKey(), -k);
          next.add(quotient, -wanted);
          next.add(LinearForm.of(x), k);
          return recombined(next);
        }
      }
      if (op == BinaryOp.DIV && k % a.value() == 0 && sum.coefficient(x) == -k / a.value()) {
        long factor = -k / a.value();
        LinearForm next = sum.copy();
        next.add(term.getKey(), -k);
        next.add(x, -factor);
        next.add(remainder(LinearForm.of(x), a.value()), factor);
        return recombined(next);
      }
    }
    return sum;
  }

  /** Divisors of c that some coefficient shares with it, greatest first. */
  private static Iterable<Long> commonFactors(LinearForm sum, long c) {
    TreeSet<Long> factors = new TreeSet<>();
    for (long coefficient : sum.terms().values()) {
      long g = LinearForm.gcd(coefficient, c);
      if (g > 1) {
        factors.add(g);
      }
    }
    return factors.descendingSet();
  }

  /** Whether the terms that g does not divide, and the constant modulo g, are in 0 … g - 1. */
  private boolean isSmall(LinearForm sum, long g) {
    LinearForm small = sum.part(t -> t.getValue() % g != 0, Math.floorMod(sum.constant(), g));
    Interval range = bounds.of(small);
    return range.min() >= 0 && range.max() < g;
  }

  private static LinearForm multiplesOf(LinearForm sum, long g) {
    return sum.part(t -> t.getValue() % g == 0, sum.constant() - Math.floorMod(sum.constant(), g));
  }

  private static LinearForm atom(BinaryOp op, LinearForm sum, long c) {
    LinearForm result = LinearForm.constant(sum.type(), 0);
    result.add(new Expr.Binary(op, sum.toExpr(), new Expr.IntImm(sum.type(), c)), 1);
    return result;
  }
}
