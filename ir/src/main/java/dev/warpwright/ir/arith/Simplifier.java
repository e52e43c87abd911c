package dev.warpwright.ir.arith;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.IntegerMath;
import dev.warpwright.ir.Intrinsic;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.Map;
import java.util.Optional;

/**
 * Brings expressions into a simple form that has the same value under the given bounds: sums are
 * collected, quotients and remainders split, conditions decided. Floats are folded only where every
 * bit stays. Simplifying twice changes nothing more.
 */
public final class Simplifier {
  private final Bounds bounds;
  private final Quotients quotients;
  private final Comparisons comparisons;

  public Simplifier(Bounds bounds) {
    this.bounds = bounds;
    this.quotients = new Quotients(bounds);
    this.comparisons = new Comparisons(bounds);
  }

  public Bounds bounds() {
    return bounds;
  }

  /** The simplified expression; the same instance if nothing changed. */
  public Expr expr(Expr e) {
    Expr result = new Pass(e).expr(e);
    return result.equals(e) ? e : result;
  }

  /** Whether a condition certainly holds. */
  public boolean proves(Expr condition) {
    return Exprs.isConst(expr(condition), 1);
  }

  /** The opposite of a condition, a comparison turned around where that is exact. */
  public static Expr negate(Expr condition) {
    if (condition instanceof Expr.Unary(UnaryOp op, Expr a) && op == UnaryOp.NOT) {
      return a;
    }
    if (condition instanceof Expr.IntImm imm) {
      return Exprs.bool(imm.value() == 0);
    }
    // A comparison of floats and its opposite are both false for NaN.
    if (condition instanceof Expr.Binary(BinaryOp op, Expr a, Expr b)
        && op.isComparison()
        && !a.type().dtype().isFloat()) {
      return new Expr.Binary(Comparisons.opposite(op), a, b);
    }
    return new Expr.Unary(UnaryOp.NOT, condition);
  }

  /** One traversal; what calls intrinsics stays as it is, around simplified operands. */
  private final class Pass extends Rewriter {
    private final boolean pure;

    Pass(Expr root) {
      this.pure = !callsIntrinsic(root);
    }

    @Override
    public Expr expr(Expr e) {
      if (!pure && callsIntrinsic(e)) {
        return super.expr(e);
      }
      return isSum(e) ? sum(e) : node(super.expr(e));
    }

    private static boolean isSum(Expr e) {
      return LinearForm.applies(e.type())
          && switch (e) {
            case Expr.Binary(BinaryOp op, Expr a, Expr b) ->
                op == BinaryOp.ADD || op == BinaryOp.SUB || op == BinaryOp.MUL;
            case Expr.Unary(UnaryOp op, Expr a) -> op == UnaryOp.NEG;
            default -> false;
          };
    }

    /** A whole sum at once. */
    private Expr sum(Expr e) {
      LinearForm raw = LinearForm.of(e);
      LinearForm result = LinearForm.constant(e.type(), raw.constant());
      for (Map.Entry<Expr, Long> term : raw.terms().entrySet()) {
        Expr simple =
            term.getKey() instanceof Expr.Binary(BinaryOp op, Expr a, Expr b) && op == BinaryOp.MUL
                ? product(expr(a), expr(b))
                : expr(term.getKey());
        result.add(simple, term.getValue());
      }
      return quotients.recombined(result).toExpr();
    }
  }

  private static boolean callsIntrinsic(Expr e) {
    boolean[] found = {false};
    Walk.expressions(
        e, node -> found[0] |= node instanceof Expr.Call c && c.op() instanceof Intrinsic);
    return found[0];
  }

  /** {@code a · b} with constant factors moved out of both. */
  private static Expr product(Expr a, Expr b) {
    LinearForm x = LinearForm.of(a);
    LinearForm y = LinearForm.of(b);
    if (x.isConstant() || y.isConstant()) {
      return x.isConstant() ? y.times(x.constant()).toExpr() : x.times(y.constant()).toExpr();
    }
    long contentX = content(x);
    long contentY = content(y);
    Expr bare =
        new Expr.Binary(
            BinaryOp.MUL, x.dividedBy(contentX).toExpr(), y.dividedBy(contentY).toExpr());
    LinearForm result = LinearForm.constant(a.type(), 0);
    result.add(bare, contentX * contentY);
    return result.toExpr();
  }

  private static long content(LinearForm sum) {
    if (sum.terms().size() == 1 && sum.constant() == 0) {
      return sum.terms().values().iterator().next();
    }
    return LinearForm.gcd(sum.gcd(), sum.constant());
  }

  /** One node whose operands are simple. */
  private Expr node(Expr e) {
    if (bounds.known(e) instanceof Optional<Boolean> known && known.isPresent()) {
      return Exprs.bool(known.get());
    }
    Expr result =
        switch (e) {
          case Expr.Binary b when b.a().type().dtype().isFloat() -> FloatFolding.binary(b);
          case Expr.Binary b when !b.a().type().isScalar() -> vector(b);
          case Expr.Binary b -> binary(b);
          case Expr.Unary u -> unary(u);
          case Expr.Select s -> select(s);
          case Expr.Cast c -> FloatFolding.cast(c);
          case Expr.Broadcast b -> e;
          case Expr.Ramp r when r.stride() == 0 -> new Expr.Broadcast(r.base(), r.lanes());
          case Expr.Ramp r -> e;
          case Var v -> point(v);
          case Expr.IntImm imm -> e;
          case Expr.FloatImm imm -> e;
          case Expr.Bitcast b -> b.type().equals(b.a().type()) ? b.a() : e;
          case Expr.Load l -> e;
          case Expr.AddressOf a -> e;
          case Expr.Call c -> FloatFolding.call(c);
        };
    return result;
  }

  /** A variable of one value is that value. */
  private Expr point(Var v) {
    DType dtype = v.type().dtype();
    if (!v.type().isScalar() || !(dtype.isInt() || dtype == DType.BOOL)) {
      return v;
    }
    Interval values = bounds.of(v);
    return values.isPoint() ? new Expr.IntImm(v.type(), values.min()) : v;
  }

  private Expr binary(Expr.Binary e) {
    Expr a = e.a();
    Expr b = e.b();
    Type type = a.type();
    if (a instanceof Expr.IntImm && b instanceof Expr.IntImm) {
      return Exprs.fold(e.op(), a, b);
    }
    return switch (e.op()) {
      case ADD -> Exprs.add(a, b);
      case SUB -> Exprs.sub(a, b);
      case MUL -> Exprs.mul(a, b);
      case DIV -> {
        if (LinearForm.applies(type) && b instanceof Expr.IntImm c && c.value() != 0) {
          yield quotients.divide(LinearForm.of(a), c.value()).toExpr();
        }
        yield Exprs.isConst(a, 0) ? a : Exprs.div(a, b);
      }
      case MOD -> {
        if (LinearForm.applies(type) && b instanceof Expr.IntImm c && c.value() != 0) {
          yield quotients.remainder(LinearForm.of(a), c.value()).toExpr();
        }
        yield Exprs.isConst(a, 0) ? a : Exprs.mod(a, b);
      }
      case MIN, MAX -> extremum(e);
      case BIT_AND -> bitAnd(e);
      case BIT_OR, BIT_XOR -> Exprs.isConst(b, 0) ? a : Exprs.isConst(a, 0) ? b : e;
      case SHL, SHR -> Exprs.isConst(b, 0) ? a : pointOr(e);
      case EQ, NE, LT, LE, GT, GE -> comparisons.compare(e.op(), a, b);
      case AND -> and(e);
      case OR -> or(e);
    };
  }

  private Expr pointOr(Expr e) {
    Interval values = bounds.of(e);
    return values.isPoint() ? new Expr.IntImm(e.type(), values.min()) : e;
  }

  private Expr bitAnd(Expr.Binary e) {
    if (e.b() instanceof Expr.IntImm mask) {
      boolean lowOnes = mask.value() >= 0 && (mask.value() & (mask.value() + 1)) == 0;
      Interval a = bounds.of(e.a());
      if (lowOnes && a.min() >= 0 && a.max() <= mask.value()) {
        return e.a();
      }
    }
    return pointOr(e);
  }

  private Expr extremum(Expr.Binary e) {
    boolean isMin = e.op() == BinaryOp.MIN;
    Expr a = e.a();
    Expr b = e.b();
    if (a.equals(b)) {
      return a;
    }
    if (comparisons.isAtMost(a, b)) {
      return isMin ? a : b;
    }
    if (comparisons.isAtMost(b, a)) {
      return isMin ? b : a;
    }
    if (a instanceof Expr.IntImm) {
      return extremum(new Expr.Binary(e.op(), b, a));
    }
    if (a instanceof Expr.Binary(BinaryOp op, Expr x, Expr y) && op == e.op()) {
      if (x.equals(b) || y.equals(b)) {
        return a;
      }
      // min(min(x, y), b) where b decides against x or y.
      if (y instanceof Expr.IntImm && b instanceof Expr.IntImm) {
        return extremum(new Expr.Binary(op, x, Exprs.fold(op, y, b)));
      }
      if (comparisons.isAtMost(y, b) || comparisons.isAtMost(b, y)) {
        boolean keepsY = comparisons.isAtMost(y, b) == isMin;
        return keepsY ? a : extremum(new Expr.Binary(op, x, b));
      }
    }
    return e;
  }

  private Expr and(Expr.Binary e) {
    if (Exprs.isConst(e.a(), 0) || Exprs.isConst(e.b(), 1) || e.a().equals(e.b())) {
      return e.a();
    }
    if (Exprs.isConst(e.b(), 0) || Exprs.isConst(e.a(), 1)) {
      return e.b();
    }
    return e.a().equals(negate(e.b())) ? Exprs.bool(false) : e;
  }

  private Expr or(Expr.Binary e) {
    if (Exprs.isConst(e.a(), 1) || Exprs.isConst(e.b(), 0) || e.a().equals(e.b())) {
      return e.a();
    }
    if (Exprs.isConst(e.b(), 1) || Exprs.isConst(e.a(), 0)) {
      return e.b();
    }
    return e.a().equals(negate(e.b())) ? Exprs.bool(true) : e;
  }

  private Expr unary(Expr.Unary e) {
    if (e.op() == UnaryOp.NOT && e.type().dtype() != DType.BOOL) {
      return e; // means nothing, but whoever simplifies may still count on its type
    }
    if (e.a() instanceof Expr.Unary(UnaryOp op, Expr inner) && op == e.op()) {
      return inner;
    }
    if (e.a() instanceof Expr.FloatImm imm && e.op() == UnaryOp.NEG) {
      return new Expr.FloatImm(imm.type(), -imm.value());
    }
    if (e.a() instanceof Expr.IntImm imm) {
      DType dtype = imm.type().dtype();
      return switch (e.op()) {
        case NOT -> negate(imm);
        case NEG -> new Expr.IntImm(imm.type(), IntegerMath.wrap(dtype, -imm.value()));
        case BIT_NOT -> new Expr.IntImm(imm.type(), IntegerMath.wrap(dtype, ~imm.value()));
      };
    }
    if (e.op() == UnaryOp.NOT && e.type().isScalar()) {
      Expr opposite = negate(e.a());
      // The opposite of a simple comparison may allow a rule that the comparison did not.
      return opposite instanceof Expr.Binary b ? binary(b) : opposite;
    }
    return e;
  }

  private Expr select(Expr.Select e) {
    if (e.then().equals(e.otherwise())) {
      return e.then();
    }
    if (e.condition() instanceof Expr.IntImm imm) {
      return imm.value() != 0 ? e.then() : e.otherwise();
    }
    if (Exprs.isConst(e.then(), 1)
        && Exprs.isConst(e.otherwise(), 0)
        && e.type().equals(Type.BOOL)) {
      return e.condition();
    }
    return e;
  }

  /** Vectors of equal lanes and equally spaced ones keep that form. */
  private Expr vector(Expr.Binary e) {
    if (e.a() instanceof Expr.Broadcast(Expr x, int lanes)) {
      if (e.b() instanceof Expr.Broadcast(Expr y, int same)) {
        return new Expr.Broadcast(expr(new Expr.Binary(e.op(), x, y)), lanes);
      }
      if (e.b() instanceof Expr.Ramp(Expr base, long stride, int same)
          && LinearForm.applies(base.type())
          && (e.op() == BinaryOp.ADD || e.op() == BinaryOp.MUL)) {
        return vector(new Expr.Binary(e.op(), e.b(), e.a()));
      }
    }
    if (e.a() instanceof Expr.Ramp(Expr base, long stride, int lanes)
        && LinearForm.applies(base.type())) {
      if (e.b() instanceof Expr.Broadcast(Expr y, int same)) {
        if (e.op() == BinaryOp.ADD || e.op() == BinaryOp.SUB) {
          return new Expr.Ramp(expr(new Expr.Binary(e.op(), base, y)), stride, lanes);
        }
        if (e.op() == BinaryOp.MUL && y instanceof Expr.IntImm c && c.value() != 0) {
          return new Expr.Ramp(
              expr(new Expr.Binary(BinaryOp.MUL, base, c)), stride * c.value(), lanes);
        }
      }
      if (e.b() instanceof Expr.Ramp(Expr other, long otherStride, int same)
          && e.op() == BinaryOp.ADD
          && stride + otherStride != 0) {
        return new Expr.Ramp(expr(Exprs.add(base, other)), stride + otherStride, lanes);
      }
    }
    return e;
  }
}
