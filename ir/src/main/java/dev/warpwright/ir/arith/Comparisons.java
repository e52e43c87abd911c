package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Comparisons of scalar integers: decided by bounds, otherwise made simple. */
final class Comparisons {
  private final Bounds bounds;

  Comparisons(Bounds bounds) {
    this.bounds = bounds;
  }

  /** The comparison that holds exactly where {@code op} does not. */
  static BinaryOp opposite(BinaryOp op) {
    return switch (op) {
      case EQ -> BinaryOp.NE;
      case NE -> BinaryOp.EQ;
      case LT -> BinaryOp.GE;
      case LE -> BinaryOp.GT;
      case GT -> BinaryOp.LE;
      case GE -> BinaryOp.LT;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    };
  }

  /** The comparison with its sides exchanged. */
  static BinaryOp mirrored(BinaryOp op) {
    return switch (op) {
      case EQ, NE -> op;
      case LT -> BinaryOp.GT;
      case LE -> BinaryOp.GE;
      case GT -> BinaryOp.LT;
      case GE -> BinaryOp.LE;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    };
  }

  /** Whether a ≤ b is certain. */
  boolean isAtMost(Expr a, Expr b) {
    if (LinearForm.applies(a.type())) {
      return bounds.isAtMostZero(LinearForm.of(a).plus(LinearForm.of(b), -1));
    }
    Interval left = bounds.of(a);
    Interval right = bounds.of(b);
    return left.min() >= 0 && right.min() >= 0 && left.isBounded() && left.max() <= right.min();
  }

  Expr compare(BinaryOp op, Expr a, Expr b) {
    if (a.equals(b)) {
      return Exprs.bool(op == BinaryOp.EQ || op == BinaryOp.LE || op == BinaryOp.GE);
    }
    if (!LinearForm.applies(a.type())) {
      Boolean decided = decide(op, bounds.of(a), bounds.of(b));
      return decided == null ? new Expr.Binary(op, a, b) : Exprs.bool(decided);
    }
    LinearForm left = LinearForm.of(a);
    LinearForm right = LinearForm.of(b);
    Boolean decided = decide(op, left.plus(right, -1));
    return decided == null ? normal(op, left, right) : Exprs.bool(decided);
  }

  /** By intervals alone, for types that wrap. */
  private static @Nullable Boolean decide(BinaryOp op, Interval a, Interval b) {
    if (a.min() < 0 && !a.isBounded() || b.min() < 0 && !b.isBounded()) {
      return null;
    }
    boolean less = a.max() < b.min();
    boolean atMost = a.max() <= b.min();
    boolean greater = a.min() > b.max();
    boolean atLeast = a.min() >= b.max();
    return verdict(op, less, atMost, greater, atLeast, a.isPoint() && a.equals(b));
  }

  /** By the difference a - b. */
  private @Nullable Boolean decide(BinaryOp op, LinearForm difference) {
    LinearForm one = LinearForm.constant(difference.type(), 1);
    LinearForm opposite = difference.times(-1);
    boolean less = bounds.isAtMostZero(difference.plus(one, 1));
    boolean greater = !less && bounds.isAtMostZero(opposite.plus(one, 1));
    boolean atMost = less || bounds.isAtMostZero(difference);
    boolean atLeast = greater || bounds.isAtMostZero(opposite);
    return verdict(op, less, atMost, greater, atLeast, atMost && atLeast);
  }

  private static @Nullable Boolean verdict(
      BinaryOp op, boolean less, boolean atMost, boolean greater, boolean atLeast, boolean equal) {
    return switch (op) {
      case EQ -> equal ? Boolean.TRUE : less || greater ? Boolean.FALSE : null;
      case NE -> equal ? Boolean.FALSE : less || greater ? Boolean.TRUE : null;
      case LT -> less ? Boolean.TRUE : atLeast ? Boolean.FALSE : null;
      case LE -> atMost ? Boolean.TRUE : greater ? Boolean.FALSE : null;
      case GT -> greater ? Boolean.TRUE : atMost ? Boolean.FALSE : null;
      case GE -> atLeast ? Boolean.TRUE : less ? Boolean.FALSE : null;
      case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, AND, OR ->
          throw new IllegalArgumentException(op + " is no comparison");
    };
  }

  /**
   * Common terms cancelled, common factors divided out, a lone constant on the right. Terms stay on
   * their sides and constants are only subtracted, so that nothing new can overflow.
   */
  private Expr normal(BinaryOp op, LinearForm left, LinearForm right) {
    LinearForm t = left.copy();
    LinearForm u = right.copy();
    for (Map.Entry<Expr, Long> term : left.terms().entrySet()) {
      long mine = term.getValue();
      long its = right.coefficient(term.getKey());
      if (its != 0 && (mine > 0) == (its > 0)) {
        long common = Math.abs(mine) < Math.abs(its) ? mine : its;
        t.add(term.getKey(), -common);
        u.add(term.getKey(), -common);
      }
    }
    // t - u op k, without the constants of t and u
    long k = u.constant() - t.constant();
    t = t.part(x -> true, 0);
    u = u.part(x -> true, 0);
    long g = LinearForm.gcd(t.gcd(), u.gcd());
    if (g > 1) {
      boolean exact = k % g == 0;
      if (!exact && (op == BinaryOp.EQ || op == BinaryOp.NE)) {
        return Exprs.bool(op == BinaryOp.NE);
      }
      boolean up = op == BinaryOp.LT || op == BinaryOp.GE;
      k = up ? Math.ceilDiv(k, g) : Math.floorDiv(k, g);
      t = t.dividedBy(g);
      u = u.dividedBy(g);
    }
    if (t.isConstant()) {
      LinearForm none = t;
      t = u;
      u = none;
      k = -k;
      op = mirrored(op);
    }
    if (u.isConstant() && t.terms().values().stream().allMatch(c -> c < 0)) {
      t = t.times(-1);
      k = -k;
      op = mirrored(op);
    }
    Expr coarse = withoutRest(op, t, u, k);
    if (coarse != null) {
      return coarse;
    }
    if (u.isConstant()) {
      return againstConstant(op, t, k, left, right);
    }
    t.add(new Expr.IntImm(t.type(), Math.max(k, 0)), -1);
    u.add(new Expr.IntImm(u.type(), Math.min(k, 0)), 1);
    return new Expr.Binary(op, t.toExpr(), u.toExpr());
  }

  /**
   * {@code g·A + r < g·B} where {@code A < B}, if {@code 0 ≤ r < g}; null if that does not apply.
   */
  private @Nullable Expr withoutRest(BinaryOp op, LinearForm t, LinearForm u, long k) {
    if (op == BinaryOp.EQ || op == BinaryOp.NE) {
      return null;
    }
    // t ≤ u + k where t < u + k + 1
    boolean next = op == BinaryOp.LE || op == BinaryOp.GT;
    long limit = next ? k + 1 : k;
    long factor = u.gcd();
    for (long coefficient : t.terms().values()) {
      long g = LinearForm.gcd(LinearForm.gcd(coefficient, factor), limit);
      LinearForm rest = t.part(term -> term.getValue() % g != 0, 0);
      Interval values = bounds.of(rest);
      if (g > 1 && !rest.isConstant() && values.min() >= 0 && values.max() < g) {
        LinearForm a = t.part(term -> term.getValue() % g == 0, 0).dividedBy(g);
        LinearForm b = u.dividedBy(g).plus(LinearForm.constant(u.type(), limit / g), 1);
        BinaryOp strict = op == BinaryOp.LE ? BinaryOp.LT : op == BinaryOp.GT ? BinaryOp.GE : op;
        return compare(strict, a.toExpr(), b.toExpr());
      }
    }
    return null;
  }

  private Expr againstConstant(
      BinaryOp op, LinearForm t, long k, LinearForm left, LinearForm right) {
    if (!Interval.ofType(t.type().dtype()).contains(k)) {
      return new Expr.Binary(op, left.toExpr(), right.toExpr());
    }
    // floor(y / c) < k where y < c·k
    if (t.terms().size() == 1
        && t.terms().entrySet().iterator().next() instanceof Map.Entry<Expr, Long> only
        && only.getValue() == 1
        && only.getKey() instanceof Expr.Binary(BinaryOp div, Expr y, Expr.IntImm c)
        && div == BinaryOp.DIV
        && c.value() > 0
        && op != BinaryOp.EQ
        && op != BinaryOp.NE) {
      boolean next = op == BinaryOp.LE || op == BinaryOp.GT;
      Interval limit = Interval.of(k).plus(Interval.of(next ? 1 : 0)).times(c.value());
      if (Interval.ofType(t.type().dtype()).covers(limit) && limit.isBounded()) {
        BinaryOp strict = op == BinaryOp.LE ? BinaryOp.LT : op == BinaryOp.GT ? BinaryOp.GE : op;
        return compare(strict, y, new Expr.IntImm(t.type(), limit.min()));
      }
    }
    return new Expr.Binary(op, t.toExpr(), new Expr.IntImm(t.type(), k));
  }
}
