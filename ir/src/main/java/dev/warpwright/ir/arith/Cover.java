package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What indices touch when loops run: variables with ranges are relaxed, all others stay as they are
 * in the result. A result may be too large, never too small.
 */
public final class Cover {
  private final Map<Var, Range> domain;
  private final Simplifier outer;
  private final Simplifier inner;

  /**
   * A cover over a domain.
   *
   * @param domain the variables to relax and their ranges; the ranges mention only variables that
   *     stay
   * @param bounds what is known about the variables that stay
   */
  public Cover(Map<Var, Range> domain, Bounds bounds) {
    this.domain = Map.copyOf(domain);
    this.outer = new Simplifier(bounds);
    Bounds all = bounds;
    for (Map.Entry<Var, Range> entry : domain.entrySet()) {
      all = all.withRange(entry.getKey(), entry.getValue().min(), entry.getValue().extent());
    }
    this.inner = new Simplifier(all);
  }

  /** Least and greatest value, as expressions of the variables that stay. */
  private record Span(Expr low, Expr high) {}

  /**
   * The range that covers the index; empty if there is no bound (an index that is loaded from
   * memory and the like).
   */
  public Optional<Range> range(Expr index) {
    return range(index, Exprs.i32(1));
  }

  /** The range that covers {@code extent} indices from {@code min} on. */
  public Optional<Range> range(Expr min, Expr extent) {
    Optional<Span> first = span(inner.expr(min));
    Optional<Span> width = span(inner.expr(extent));
    if (first.isEmpty() || width.isEmpty()) {
      return Optional.empty();
    }
    Expr low = first.get().low();
    Expr difference = Exprs.sub(first.get().high(), low);
    return Optional.of(
        new Range(outer.expr(low), extentOf(Exprs.add(difference, width.get().high()))));
  }

  /** The region that covers an access at the given indices; unbounded indices cover everything. */
  public Region access(Buffer buffer, List<? extends Expr> indices) {
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < indices.size(); i++) {
      Expr index = indices.get(i);
      Range whole = new Range(Exprs.i32(0), buffer.shape().get(i));
      if (index instanceof Expr.Ramp(Expr base, long stride, int lanes)) {
        long reach = stride * (lanes - 1);
        Expr first = stride < 0 ? Exprs.add(base, reach) : base;
        ranges.add(range(first, Exprs.i32(Math.abs(reach) + 1)).orElse(whole));
      } else {
        Optional<Range> covered = index.type().isScalar() ? range(index) : Optional.<Range>empty();
        ranges.add(covered.orElse(whole));
      }
    }
    return new Region(buffer, ranges);
  }

  /** The region that covers a region; unbounded indices cover everything. */
  public Region region(Region region) {
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < region.ranges().size(); i++) {
      Range range = region.ranges().get(i);
      Range whole = new Range(Exprs.i32(0), region.buffer().shape().get(i));
      ranges.add(range(range.min(), range.extent()).orElse(whole));
    }
    return new Region(region.buffer(), ranges);
  }

  /** The least range that covers both, as far as the bounds can tell. */
  public static Range union(Range a, Range b, Bounds bounds) {
    Simplifier simplifier = new Simplifier(bounds);
    Expr low = simplifier.expr(Exprs.min(a.min(), b.min()));
    Expr endA = Exprs.add(a.min(), a.extent());
    Expr endB = Exprs.add(b.min(), b.extent());
    Expr high = simplifier.expr(Exprs.max(endA, endB));
    return new Range(low, simplifier.expr(Exprs.sub(high, low)));
  }

  /** The least region that covers both regions of one buffer. */
  public static Region union(Region a, Region b, Bounds bounds) {
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < a.ranges().size(); i++) {
      ranges.add(union(a.ranges().get(i), b.ranges().get(i), bounds));
    }
    return new Region(a.buffer(), ranges);
  }

  /** An extent; where it is no constant but has a constant bound that is as good, that one. */
  private Expr extentOf(Expr extent) {
    Expr simple = outer.expr(extent);
    Interval values = outer.bounds().of(simple);
    return values.isPoint() ? new Expr.IntImm(simple.type(), values.min()) : simple;
  }

  private Optional<Span> span(Expr e) {
    if (!Affine.mentions(e, domain.keySet())) {
      return Bounds.isStable(e) ? Optional.of(new Span(e, e)) : constantSpan(e);
    }
    if (e instanceof Var v) {
      Range range = Objects.requireNonNull(domain.get(v));
      Expr last = Exprs.add(Exprs.add(range.min(), range.extent()), -1);
      return Optional.of(new Span(range.min(), outer.expr(last)));
    }
    if (!LinearForm.applies(e.type())) {
      return Optional.empty();
    }
    LinearForm sum = LinearForm.of(e);
    if (sum.terms().size() == 1 && sum.terms().containsKey(e)) {
      return term(e).or(() -> constantSpan(e));
    }
    LinearForm low = LinearForm.constant(e.type(), 0);
    LinearForm high = LinearForm.constant(e.type(), 0);
    // Constant bounds may be too wide for the type although no value is.
    Interval constants = Interval.of(sum.constant());
    for (Map.Entry<Expr, Long> entry : sum.terms().entrySet()) {
      Optional<Span> part = span(entry.getKey());
      if (part.isEmpty()) {
        return Optional.empty();
      }
      long c = entry.getValue();
      Span span = part.get();
      if (span.low() instanceof Expr.IntImm first && span.high() instanceof Expr.IntImm last) {
        constants = constants.plus(new Interval(first.value(), last.value()).times(c));
      } else {
        low.add(c > 0 ? span.low() : span.high(), c);
        high.add(c > 0 ? span.high() : span.low(), c);
      }
    }
    Interval all = Interval.ofType(e.type().dtype());
    if (!constants.isBounded() || !all.covers(constants)) {
      return constantSpan(e);
    }
    low.add(new Expr.IntImm(e.type(), constants.min()), 1);
    high.add(new Expr.IntImm(e.type(), constants.max()), 1);
    return Optional.of(new Span(outer.expr(low.toExpr()), outer.expr(high.toExpr())));
  }

  /** The span of what is no sum. */
  private Optional<Span> term(Expr e) {
    if (e instanceof Expr.Select s) {
      return both(s.then(), s.otherwise(), BinaryOp.MIN, BinaryOp.MAX);
    }
    if (!(e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b))) {
      return Optional.empty();
    }
    return switch (op) {
      case MIN -> both(a, b, BinaryOp.MIN, BinaryOp.MIN);
      case MAX -> both(a, b, BinaryOp.MAX, BinaryOp.MAX);
      case DIV -> b instanceof Expr.IntImm c && c.value() > 0 ? quotient(a, c) : Optional.empty();
      case MOD -> b instanceof Expr.IntImm c && c.value() > 0 ? remainder(a, c) : Optional.empty();
      case MUL -> product(a, b).or(() -> product(b, a));
      case ADD, SUB, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, EQ, NE, LT, LE, GT, GE, AND, OR ->
          Optional.empty();
    };
  }

  private Optional<Span> both(Expr a, Expr b, BinaryOp low, BinaryOp high) {
    Optional<Span> x = span(a);
    Optional<Span> y = span(b);
    if (x.isEmpty() || y.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Span(
            outer.expr(new Expr.Binary(low, x.get().low(), y.get().low())),
            outer.expr(new Expr.Binary(high, x.get().high(), y.get().high()))));
  }

  /** Division is monotonous; a rounded width is at most ⌈width / c⌉, kept constant if it is. */
  private Optional<Span> quotient(Expr a, Expr.IntImm c) {
    Optional<Span> span = span(a);
    if (span.isEmpty()) {
      return span;
    }
    Expr low = outer.expr(new Expr.Binary(BinaryOp.DIV, span.get().low(), c));
    Expr high = outer.expr(new Expr.Binary(BinaryOp.DIV, span.get().high(), c));
    Expr width = outer.expr(Exprs.sub(span.get().high(), span.get().low()));
    if (width instanceof Expr.IntImm w
        && !(outer.expr(Exprs.sub(high, low)) instanceof Expr.IntImm)) {
      high = outer.expr(Exprs.add(low, Math.ceilDiv(w.value(), c.value())));
    }
    return Optional.of(new Span(low, high));
  }

  private Optional<Span> remainder(Expr a, Expr.IntImm c) {
    Optional<Span> span = span(a);
    if (span.isPresent()) {
      Expr low = outer.expr(new Expr.Binary(BinaryOp.DIV, span.get().low(), c));
      Expr high = outer.expr(new Expr.Binary(BinaryOp.DIV, span.get().high(), c));
      if (low.equals(high)) {
        return Optional.of(
            new Span(
                outer.expr(new Expr.Binary(BinaryOp.MOD, span.get().low(), c)),
                outer.expr(new Expr.Binary(BinaryOp.MOD, span.get().high(), c))));
      }
    }
    Type type = c.type();
    return Optional.of(new Span(Exprs.zero(type), new Expr.IntImm(type, c.value() - 1)));
  }

  /** A factor that stays and is not negative keeps the order. */
  private Optional<Span> product(Expr a, Expr factor) {
    if (Affine.mentions(factor, domain.keySet())
        || !Bounds.isStable(factor)
        || outer.bounds().of(factor).min() < 0) {
      return Optional.empty();
    }
    return span(a)
        .map(
            s ->
                new Span(
                    outer.expr(Exprs.mul(s.low(), factor)),
                    outer.expr(Exprs.mul(s.high(), factor))));
  }

  private Optional<Span> constantSpan(Expr e) {
    Interval values = inner.bounds().of(e);
    if (!values.isBounded() || values.equals(Interval.ofType(e.type().dtype()))) {
      return Optional.empty();
    }
    return Optional.of(
        new Span(new Expr.IntImm(e.type(), values.min()), new Expr.IntImm(e.type(), values.max())));
  }
}
