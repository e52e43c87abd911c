package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.arith.LinearForm;
import dev.warpwright.ir.type.Type;
import java.util.Map;

/**
 * LinearForm forms of indices. Terms are variables, and what is not linear: quotients, remainders
 * and anything else, taken as they are. Index arithmetic does not overflow, as the IR demands.
 */
public final class Forms {
  private static final LinearForm ZERO = LinearForm.constant(Type.I32, 0);

  private Forms() {}

  public static LinearForm constant(long value) {
    return LinearForm.constant(Type.I32, value);
  }

  /** The form of an {@code i32} expression. */
  public static LinearForm of(Expr e) {
    return of(e, Ranges.NONE);
  }

  /** The form of an expression, quotients and remainders resolved where the ranges allow it. */
  public static LinearForm of(Expr e, Ranges ranges) {
    if (e.type().equals(Type.I32) && e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)) {
      if (op == BinaryOp.ADD) {
        return of(a, ranges).plus(of(b, ranges));
      }
      if (op == BinaryOp.SUB) {
        return of(a, ranges).minus(of(b, ranges));
      }
      if (op == BinaryOp.MUL) {
        LinearForm x = of(a, ranges);
        LinearForm y = of(b, ranges);
        if (y.isConstant()) {
          return x.times(y.constant());
        }
        if (x.isConstant()) {
          return y.times(x.constant());
        }
        return LinearForm.of(Exprs.mul(x.toExpr(), y.toExpr()));
      }
      if ((op == BinaryOp.DIV || op == BinaryOp.MOD)
          && b instanceof Expr.IntImm by
          && by.value() > 0) {
        return divided(op, of(a, ranges), by.value(), ranges);
      }
    }
    return LinearForm.of(e);
  }

  /** With {@code n = by · q + r}: {@code n / by = q + r / by} and {@code n % by = r % by}. */
  private static LinearForm divided(BinaryOp op, LinearForm n, long by, Ranges ranges) {
    LinearForm q = constant(Math.floorDiv(n.constant(), by));
    LinearForm r = constant(Math.floorMod(n.constant(), by));
    for (Map.Entry<Expr, Long> term : n.terms().entrySet()) {
      LinearForm atom = LinearForm.of(term.getKey());
      if (term.getValue() % by == 0) {
        q = q.plus(atom.times(term.getValue() / by));
      } else {
        r = r.plus(atom.times(term.getValue()));
      }
    }
    Span span = ranges.of(r);
    boolean digit = span != null && span.lo() >= 0 && span.hi() < by;
    if (op == BinaryOp.MOD && digit) {
      return r;
    }
    LinearForm whole = op == BinaryOp.DIV ? q : ZERO;
    return digit
        ? whole
        : whole.plus(LinearForm.of(new Expr.Binary(op, r.toExpr(), Exprs.i32(by))));
  }

  /** The expression in its linear form; the same meaning, usually shorter. */
  public static Expr simplify(Expr e, Ranges ranges) {
    return e.type().equals(Type.I32) ? of(e, ranges).toExpr() : e;
  }
}
