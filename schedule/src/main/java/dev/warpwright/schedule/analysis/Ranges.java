package dev.warpwright.schedule.analysis;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Bounds;
import dev.warpwright.ir.arith.Interval;
import dev.warpwright.ir.arith.LinearForm;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Constant bounds of the variables for which they are known. */
public final class Ranges {
  public static final Ranges NONE = new Ranges(Map.of());

  private final Map<Var, Span> spans;

  private Ranges(Map<Var, Span> spans) {
    this.spans = spans;
  }

  /** These ranges and one more variable, with a span or with no known bound (null). */
  public Ranges with(Var variable, @Nullable Span span) {
    Map<Var, Span> copy = new HashMap<>(spans);
    if (span == null) {
      copy.remove(variable);
    } else {
      copy.put(variable, span);
    }
    return new Ranges(copy);
  }

  public Ranges with(Iterable<Iteration> iterations) {
    Ranges result = this;
    for (Iteration iteration : iterations) {
      result = result.with(iteration.variable(), iteration.span());
    }
    return result;
  }

  /** The values of the variable of a loop, or null where its bounds are not constant. */
  public static @Nullable Span of(Stmt.For loop) {
    return of(loop.min(), loop.extent());
  }

  static @Nullable Span of(Expr min, Expr extent) {
    return min instanceof Expr.IntImm from && extent instanceof Expr.IntImm n && n.value() > 0
        ? new Span(from.value(), from.value() + n.value() - 1)
        : null;
  }

  /** Bounds of a linear form, or null where they are not known. */
  public @Nullable Span of(LinearForm form) {
    Span sum = Span.ZERO.plus(form.constant());
    for (Map.Entry<Expr, Long> term : form.terms().entrySet()) {
      Span span = ofAtom(term.getKey());
      if (span == null) {
        return null;
      }
      sum = sum.plus(span.times(term.getValue()));
    }
    return sum;
  }

  /** Bounds of one atom of a linear form, or null where they are not known. */
  public @Nullable Span ofAtom(Expr atom) {
    if (atom instanceof Var v) {
      return spans.get(v);
    }
    // What is read from memory has no bounds but those that the program gives it.
    if (atom instanceof Expr.Binary(BinaryOp op, Expr _, Expr _)
        && (op == BinaryOp.MIN || op == BinaryOp.MAX)) {
      Interval clamped = Bounds.NONE.of(atom);
      return clamped.equals(Interval.ofType(atom.type().dtype()))
          ? null
          : new Span(clamped.min(), clamped.max());
    }
    if (atom instanceof Expr.Binary(BinaryOp op, Expr a, Expr.IntImm by) && by.value() > 0) {
      Span numerator = of(Forms.of(a, this));
      if (op == BinaryOp.DIV && numerator != null) {
        return new Span(
            Math.floorDiv(numerator.lo(), by.value()), Math.floorDiv(numerator.hi(), by.value()));
      }
      if (op == BinaryOp.MOD) {
        boolean inside = numerator != null && numerator.lo() >= 0 && numerator.hi() < by.value();
        return inside ? numerator : new Span(0, by.value() - 1);
      }
    }
    return null;
  }
}
