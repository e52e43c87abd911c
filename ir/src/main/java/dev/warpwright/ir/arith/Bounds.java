package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is known about the variables at one place of a program: an interval for each, and facts that
 * relate several. Immutable.
 */
public final class Bounds {
  public static final Bounds NONE = new Bounds(Map.of(), List.of(), Set.of());

  /** How many facts may be combined to decide a comparison. */
  private static final int FACTS_COMBINED = 2;

  private final Map<Var, Interval> vars;

  /** Each is at most 0. */
  private final List<LinearForm> facts;

  /** Conditions that hold, for those that are not linear. */
  private final Set<Expr> holds;

  private Bounds(Map<Var, Interval> vars, List<LinearForm> facts, Set<Expr> holds) {
    this.vars = vars;
    this.facts = facts;
    this.holds = holds;
  }

  /** Intervals of variables; the others may be anything. */
  public static Bounds of(Map<Var, Interval> vars) {
    return new Bounds(Map.copyOf(vars), List.of(), Set.of());
  }

  /** These and one variable more; its interval replaces an earlier one. */
  public Bounds with(Var v, Interval interval) {
    Map<Var, Interval> copy = new HashMap<>(vars);
    copy.put(v, interval);
    return new Bounds(copy, facts, holds);
  }

  /** These and {@code min ≤ v < min + extent}, as in a loop body. */
  public Bounds withRange(Var v, Expr min, Expr extent) {
    Interval low = of(min);
    Interval high = of(Exprs.add(min, extent)).minus(Interval.of(1));
    Bounds result = with(v, new Interval(low.min(), Math.max(low.min(), high.max())));
    if (LinearForm.applies(v.type()) && isStable(min) && isStable(extent)) {
      if (!(min instanceof Expr.IntImm)) {
        result = result.withFact(LinearForm.of(min).plus(LinearForm.of(v), -1));
      }
      if (!(extent instanceof Expr.IntImm) || !(min instanceof Expr.IntImm)) {
        LinearForm last =
            LinearForm.of(v).plus(LinearForm.of(min), -1).plus(LinearForm.of(extent), -1);
        last.add(new Expr.IntImm(v.type(), 1), 1);
        result = result.withFact(last);
      }
    }
    return result;
  }

  /** These and {@code v = value}. */
  public Bounds withValue(Var v, Expr value) {
    if (!v.type().dtype().isInt() && v.type().dtype() != DType.BOOL) {
      return this;
    }
    Bounds result = with(v, of(value));
    if (LinearForm.applies(v.type()) && isStable(value)) {
      LinearForm difference = LinearForm.of(v).plus(LinearForm.of(value), -1);
      result = result.withFact(difference).withFact(difference.times(-1));
    }
    return result;
  }

  /** These where the condition holds too. Conditions that read memory teach nothing. */
  public Bounds assuming(Expr condition) {
    return isStable(condition) ? learn(condition) : this;
  }

  /** These where the condition does not hold. */
  public Bounds assumingNot(Expr condition) {
    return assuming(Simplifier.negate(condition));
  }

  private Bounds learn(Expr condition) {
    if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)) {
      if (op == BinaryOp.AND) {
        return learn(a).learn(b);
      }
      if (op.isComparison() && LinearForm.applies(a.type())) {
        LinearForm difference = LinearForm.of(a).plus(LinearForm.of(b), -1);
        LinearForm one = LinearForm.constant(a.type(), 1);
        return switch (op) {
          case LT -> withFact(difference.plus(one, 1));
          case LE -> withFact(difference);
          case GT -> withFact(difference.times(-1).plus(one, 1));
          case GE -> withFact(difference.times(-1));
          case EQ -> withFact(difference).withFact(difference.times(-1));
          case ADD, SUB, MUL, DIV, MOD, MIN, MAX, BIT_AND, BIT_OR, BIT_XOR, SHL, SHR, NE, AND, OR ->
              withKnown(condition);
        };
      }
    }
    return withKnown(condition);
  }

  private Bounds withKnown(Expr condition) {
    Set<Expr> copy = new HashSet<>(holds);
    copy.add(condition);
    return new Bounds(vars, facts, copy);
  }

  /** A fact about one variable narrows its interval; one about several is kept. */
  private Bounds withFact(LinearForm atMostZero) {
    if (atMostZero.terms().size() == 1) {
      Map.Entry<Expr, Long> only = atMostZero.terms().entrySet().iterator().next();
      if (only.getKey() instanceof Var v) {
        long c = only.getValue();
        long rest = -atMostZero.constant();
        // c·v ≤ rest
        Interval side =
            c > 0
                ? new Interval(Long.MIN_VALUE, Math.floorDiv(rest, c))
                : new Interval(-Math.floorDiv(rest, -c), Long.MAX_VALUE);
        return with(v, of(v).intersect(side));
      }
    }
    List<LinearForm> copy = new ArrayList<>(facts);
    copy.add(atMostZero);
    return new Bounds(vars, copy, holds);
  }

  /** Whether a value cannot change between two evaluations: no loads, no intrinsics. */
  static boolean isStable(Expr e) {
    boolean[] stable = {true};
    Walk.expressions(
        e,
        node -> {
          if (node instanceof Expr.Load
              || node instanceof Expr.AddressOf
              || (node instanceof Expr.Call call && call.op() instanceof Intrinsic)) {
            stable[0] = false;
          }
        });
    return stable[0];
  }

  /** Whether a condition is known, as it is written, to hold or not to hold. */
  Optional<Boolean> known(Expr condition) {
    // Negating an integer constant would make it a condition.
    if (holds.isEmpty() || condition.type().dtype() != DType.BOOL) {
      return Optional.empty();
    }
    if (holds.contains(condition)) {
      return Optional.of(true);
    }
    return holds.contains(Simplifier.negate(condition)) ? Optional.of(false) : Optional.empty();
  }

  /** The values that an integer or boolean expression can take, all lanes together. */
  public Interval of(Expr e) {
    Type type = e.type();
    Interval all = Interval.ofType(type.dtype());
    if (LinearForm.applies(type)
        && e instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && (op == BinaryOp.ADD || op == BinaryOp.SUB)) {
      return clamp(of(LinearForm.of(e)), all, type);
    }
    return switch (e) {
      case Expr.IntImm imm -> Interval.of(imm.value());
      case Var v -> vars.getOrDefault(v, all);
      case Expr.Binary b -> clamp(binary(b), all, type);
      case Expr.Unary u -> clamp(unary(u), all, type);
      case Expr.Select s -> of(s.then()).union(of(s.otherwise()));
      case Expr.Cast c -> {
        boolean exact = c.a().type().dtype().isInt() || c.a().type().dtype() == DType.BOOL;
        Interval from = exact ? of(c.a()) : Interval.ALL;
        yield type.dtype() == DType.BOOL || !all.covers(from) || from.equals(Interval.ALL)
            ? all
            : from;
      }
      case Expr.Ramp r ->
          clamp(
              of(r.base())
                  .plus(Interval.of(0).union(Interval.of(r.stride()).times(r.lanes() - 1L))),
              all,
              type);
      case Expr.Broadcast b -> of(b.value());
      case Expr.Call c when c.op() == MathOp.ABS && type.dtype().isInt() -> {
        Interval a = of(c.args().getFirst());
        yield clamp(a.max(a.negated()).max(Interval.of(0)), all, type);
      }
      case Expr.Call c -> all;
      case Expr.FloatImm f -> all;
      case Expr.Bitcast b -> all;
      case Expr.Load l -> all;
      case Expr.AddressOf a -> all;
    };
  }

  /** Index types do not overflow, so what lies outside cannot happen; other types wrap. */
  private static Interval clamp(Interval computed, Interval all, Type type) {
    DType dtype = type.dtype();
    if (dtype == DType.I32 || dtype == DType.I64) {
      return all.intersect(computed);
    }
    return dtype != DType.U64 || computed.min() >= 0 && computed.isBounded()
        ? all.covers(computed) ? computed : all
        : all;
  }

  private Interval unary(Expr.Unary u) {
    return switch (u.op()) {
      case NEG -> of(u.a()).negated();
      case BIT_NOT ->
          u.a().type().dtype().isUnsigned()
              ? Interval.ALL
              : of(u.a()).negated().minus(Interval.of(1));
      case NOT -> Interval.of(1).minus(of(u.a()));
    };
  }

  private Interval binary(Expr.Binary e) {
    Interval a = of(e.a());
    Interval b = of(e.b());
    if (e.a().type().dtype() == DType.U64 && (a.min() < 0 || b.min() < 0)) {
      return e.op().isComparison() ? Interval.BOOL : Interval.ALL;
    }
    return switch (e.op()) {
      case ADD -> a.plus(b);
      case SUB -> a.minus(b);
      case MUL -> a.times(b);
      case DIV -> a.floorDiv(b);
      case MOD -> a.floorMod(b);
      case MIN -> a.min(b);
      case MAX -> a.max(b);
      case BIT_AND -> {
        if (a.min() >= 0 && b.min() >= 0) {
          yield new Interval(0, Math.min(a.max(), b.max()));
        }
        yield b.min() >= 0
            ? new Interval(0, b.max())
            : a.min() >= 0 ? new Interval(0, a.max()) : Interval.ALL;
      }
      case BIT_OR, BIT_XOR -> {
        if (a.min() < 0 || b.min() < 0) {
          yield Interval.ALL;
        }
        long ones = Long.highestOneBit(Math.max(1, a.max() | b.max())) * 2 - 1;
        long low = e.op() == BinaryOp.BIT_OR ? Math.max(a.min(), b.min()) : 0;
        yield new Interval(low, a.max() == 0 && b.max() == 0 ? 0 : Math.max(low, ones));
      }
      case SHL ->
          b.isPoint() && b.min() >= 0 && b.min() < 31 ? a.times(1L << b.min()) : Interval.ALL;
      case SHR ->
          b.isPoint() && b.min() >= 0 && b.min() < 31
              ? a.floorDiv(Interval.of(1L << b.min()))
              : Interval.ALL;
      case EQ, NE, LT, LE, GT, GE, AND, OR -> Interval.BOOL;
    };
  }

  /** Values of a sum by the intervals of its terms. */
  Interval of(LinearForm sum) {
    Interval total = Interval.of(sum.constant());
    for (Map.Entry<Expr, Long> term : sum.terms().entrySet()) {
      total = total.plus(of(term.getKey()).times(term.getValue()));
    }
    return total;
  }

  /** Whether a sum is certainly at most 0; uses the facts as well as the intervals. */
  boolean isAtMostZero(LinearForm sum) {
    return atMostZero(sum, FACTS_COMBINED);
  }

  private boolean atMostZero(LinearForm sum, int depth) {
    if (of(sum).max() <= 0) {
      return true;
    }
    LinearForm rounded = withoutQuotients(sum);
    if (rounded != sum && of(rounded).max() <= 0) {
      return true;
    }
    if (depth == 0) {
      return false;
    }
    for (LinearForm fact : facts) {
      for (Map.Entry<Expr, Long> term : fact.terms().entrySet()) {
        long mine = sum.coefficient(term.getKey());
        long its = term.getValue();
        if (mine % its == 0 && mine / its > 0) {
          // sum = k·fact + rest with k > 0 and fact ≤ 0, so sum ≤ rest.
          LinearForm rest = sum.plus(fact, -(mine / its));
          if (rest.terms().size() <= sum.terms().size() + 1 && atMostZero(rest, depth - 1)) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /** A greater or equal sum: x - c + 1 ≤ c · floor(x / c) ≤ x. The same one if nothing applies. */
  private static LinearForm withoutQuotients(LinearForm sum) {
    LinearForm result = sum;
    for (Map.Entry<Expr, Long> term : sum.terms().entrySet()) {
      if (term.getKey() instanceof Expr.Binary(BinaryOp op, Expr x, Expr.IntImm c)
          && op == BinaryOp.DIV
          && c.value() > 0
          && term.getValue() % c.value() == 0) {
        long factor = term.getValue() / c.value();
        result = result.plus(LinearForm.of(term.getKey()), -term.getValue());
        result = result.plus(LinearForm.of(x), factor);
        if (factor < 0) {
          result.add(new Expr.IntImm(sum.type(), 1 - c.value()), factor);
        }
      }
    }
    return result;
  }

  @Override
  public String toString() {
    return vars + (facts.isEmpty() ? "" : " " + facts) + (holds.isEmpty() ? "" : " " + holds);
  }
}
