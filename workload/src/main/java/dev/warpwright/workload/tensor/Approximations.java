package dev.warpwright.workload.tensor;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.ir.visit.Walk;
import java.util.List;

/**
 * Functions whose results are rounded to 16 bits, by the approximations that GPUs have instructions
 * for. None is further off than 2^-20 of the greater of 1 and its value, but what the error
 * function is part of, which may be {@link #ERF} off; f16 rounds to 2^-12. What is a hyperbolic
 * tangent and nothing else, and is rounded to bf16, by 2^-9, may be {@link #TANH} of itself off.
 * Sines are, besides, those of an argument up to {@link #ARGUMENT} of itself away, what three
 * roundings to f32 may do: PTX promises as much up to 100π (2^-14.7 there), and on an H200 it is so
 * for each f32 ({@code bench/sines.cu}). Taking the nearest multiple of 2π away first would be four
 * times more exact, and three instructions an element instead of none: as many as the function
 * units take for all of a sine. Sines of more than 10^5 are any number from -1 to 1: there,
 * neighbours in 16 bits are turns apart.
 *
 * <table>
 * <caption>What becomes of functions</caption>
 * <tr><td>exp x, exp2 x</td><td>2^(x · log2 e), 2^x by ex2.approx (2 ulp)</td></tr>
 * <tr><td>tanh x</td><td>1 - 2 / (1 + e^2x); in bf16 tanh.approx, half of the function units' work</td></tr>
 * <tr><td>sin x, cos x</td><td>sin.approx, cos.approx</td></tr>
 * <tr><td>erf x</td><td>1 - 2^p(|x|): log2 erfc is nearly a parabola</td></tr>
 * <tr><td>1 + erf x</td><td>the same from both sides, so that little of it is left of 0 in one step</td></tr>
 * <tr><td>½ x (1 + erf cx)</td><td>x |(x &lt; 0 ? 0 : 1) - 2^(p(c|x|) - 1)|: one of the function units'
 * instructions and ten others</td></tr>
 * <tr><td>a / b</td><td>a · rcp.approx b (1 ulp)</td></tr>
 * </table>
 */
public final class Approximations extends Rewriter {
  /**
   * How far an argument of a sine may be from what is taken for it, in parts of itself: 2^-22.5.
   */
  public static final double ARGUMENT = 0x1.6ap-23;

  /** How far tanh.approx is off, in parts of its value, as PTX has it. */
  public static final double TANH = 0x1p-11;

  /** How far an error function, or a GELU, is off: erfc is, 2^-17.2, and a GELU 2^-17.9. */
  public static final double ERF = 0x1p-17;

  private static final double LOG2_E = 1.4426950408889634;

  /**
   * log2 erfc x for x ≥ 0, by our own fit: erfc is 6.4·10^-6 off, and in parts of itself 3.2·10^-4
   * up to 3. Beyond, where erfc is less than 2.3·10^-5, it falls faster.
   */
  private static final double[] LOG_ERFC = {
    -9.23010825630626e-06,
    -1.6275381937672593,
    -0.9205566083234348,
    -0.14483168493587767,
    0.02690339026793173,
    -0.002336466802759717
  };

  private Approximations() {}

  /**
   * {@return the expression with approximations}
   *
   * @param e of type f32
   * @param rounded what it is rounded to
   */
  public static Expr of(Expr e, DType rounded) {
    // Nowhere else: of what is nearly 0 in 1 + tanh x or x - tanh x little would be left.
    return rounded == DType.BF16
            && e instanceof Expr.Call(MathOp op, List<Expr> args, Type _)
            && op == MathOp.TANH
            && e.type().equals(Type.F32)
        ? Exprs.call(MathOp.TANH_APPROX, new Approximations().expr(args.getFirst()))
        : new Approximations().expr(e);
  }

  /**
   * {@return whether a sine or cosine in a statement is none of these: GPUs take large angles apart
   * on a path of their own, with quotients in local memory}
   *
   * @param root where to begin
   */
  public static boolean leaveSines(Stmt root) {
    boolean[] found = {false};
    Walk.expressions(
        root,
        e ->
            found[0] |=
                e instanceof Expr.Call call
                    && (call.op() == MathOp.SIN || call.op() == MathOp.COS));
    return found[0];
  }

  @Override
  public Expr expr(Expr e) {
    if (e instanceof Expr.Binary(BinaryOp op, Expr half, Expr gate)
        && op == BinaryOp.MUL
        && half instanceof Expr.Binary(BinaryOp by, Expr x, Expr.FloatImm(Type type, double factor))
        && by == BinaryOp.MUL
        && factor == 0.5
        && type.equals(Type.F32)) {
      double inner = scaleOfErf(gate, x);
      if (inner > 0) {
        return gelu(expr(x), inner);
      }
    }
    if (e instanceof Expr.Binary(BinaryOp op, Expr.FloatImm(Type type, double one), Expr b)
        && op == BinaryOp.ADD
        && one == 1
        && type.equals(Type.F32)
        && b instanceof Expr.Call(MathOp function, List<Expr> args, Type _)
        && function == MathOp.ERF) {
      Expr x = expr(args.getFirst());
      return Exprs.fma(
          restOfErf(x),
          Exprs.select(isNegative(x), Exprs.f32(1), Exprs.f32(-1)),
          Exprs.select(isNegative(x), Exprs.f32(0), Exprs.f32(2)));
    }
    Expr result = super.expr(e);
    return switch (result) {
      case Expr.Call(MathOp op, List<Expr> args, Type type) when type.equals(Type.F32) ->
          function(op, args, result);
      case Expr.Binary(BinaryOp op, Expr a, Expr b)
          when op == BinaryOp.DIV && result.type().equals(Type.F32) ->
          Exprs.mul(a, Exprs.call(MathOp.RCP_APPROX, b));
      default -> result;
    };
  }

  private static Expr function(MathOp op, List<Expr> args, Expr otherwise) {
    Expr x = args.getFirst();
    return switch (op) {
      case EXP -> exp(x);
      case EXP2 -> Exprs.call(MathOp.EXP2_APPROX, x);
      case SIN -> Exprs.call(MathOp.SIN_APPROX, x);
      case COS -> Exprs.call(MathOp.COS_APPROX, x);
      case TANH -> {
        Expr power = Exprs.call(MathOp.EXP2_APPROX, Exprs.mul(x, Exprs.f32(2 * LOG2_E)));
        Expr share = Exprs.call(MathOp.RCP_APPROX, Exprs.add(power, Exprs.f32(1)));
        yield Exprs.fma(share, Exprs.f32(-2), Exprs.f32(1));
      }
      case ERF -> erf(x);
      case FMA,
          LOG,
          SQRT,
          RSQRT,
          POW,
          ABS,
          FLOOR,
          CEIL,
          EXP2_APPROX,
          TANH_APPROX,
          RCP_APPROX,
          SIN_APPROX,
          COS_APPROX ->
          otherwise;
    };
  }

  private static Expr exp(Expr x) {
    return Exprs.call(MathOp.EXP2_APPROX, Exprs.mul(x, Exprs.f32(LOG2_E)));
  }

  private static Expr erf(Expr x) {
    Expr positive = Exprs.sub(Exprs.f32(1), restOfErf(x));
    return Exprs.select(isNegative(x), Exprs.sub(Exprs.f32(0), positive), positive);
  }

  private static Expr isNegative(Expr x) {
    return Exprs.lt(x, Exprs.f32(0));
  }

  /** The positive c of {@code 1 + erf(x · c)}; 0 of anything else. */
  private static double scaleOfErf(Expr gate, Expr x) {
    return gate instanceof Expr.Binary(BinaryOp op, Expr.FloatImm(Type _, double one), Expr b)
            && op == BinaryOp.ADD
            && one == 1
            && b instanceof Expr.Call(MathOp function, List<Expr> args, Type _)
            && function == MathOp.ERF
            && args.getFirst()
                instanceof Expr.Binary(BinaryOp by, Expr y, Expr.FloatImm(Type _, double scale))
            && by == BinaryOp.MUL
            && y.equals(x)
        ? scale
        : 0;
  }

  /** x · ½ (1 + erf cx): half of what is left of it, or what that leaves of 1. */
  private static Expr gelu(Expr x, double c) {
    Expr half = Exprs.call(MathOp.EXP2_APPROX, logErfc(Exprs.call(MathOp.ABS, x), c, -1));
    Expr from = Exprs.select(isNegative(x), Exprs.f32(0), Exprs.f32(1));
    return Exprs.mul(x, Exprs.call(MathOp.ABS, Exprs.sub(from, half)));
  }

  /** 1 - erf |x|. */
  private static Expr restOfErf(Expr x) {
    return Exprs.call(MathOp.EXP2_APPROX, logErfc(Exprs.call(MathOp.ABS, x), 1, 0));
  }

  /** log2 erfc cx and something, for x ≥ 0. */
  private static Expr logErfc(Expr x, double c, double more) {
    Expr sum = Exprs.f32(LOG_ERFC[LOG_ERFC.length - 1] * Math.pow(c, LOG_ERFC.length - 1));
    for (int i = LOG_ERFC.length - 2; i >= 0; i--) {
      sum = Exprs.fma(sum, x, Exprs.f32(LOG_ERFC[i] * Math.pow(c, i) + (i == 0 ? more : 0)));
    }
    return sum;
  }
}
