package dev.warpwright.lower.pass;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.UnaryOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.function.UnaryOperator;

/**
 * Functions of f32 as polynomials, by our own fits; at most 4 ulp from the exact value over the
 * whole range of f32 (tested against double), NaN and infinities as IEEE has them. The results of
 * exp and exp2 that are subnormal are rounded twice.
 */
final class MathExpansions {
  /** Adding this to a number below 2²² rounds it to an integer, which its low bits then hold. */
  private static final double ROUNDER = 0x1.8p23;

  private static final double LN2_HIGH = 0x1.62e43p-1;
  private static final double LN2_LOW = -0x1.05c61p-29;
  private static final double PI_HIGH = 0x1.921fb6p+1;
  private static final double PI_MIDDLE = -0x1.777a5cp-24;
  private static final double PI_LOW = -0x1.ee59dap-49;

  /** Where reduction by three parts of π is still exact enough. */
  private static final double TRIGONOMETRIC_LIMIT = 1e5;

  /** e^r = 1 + r + r²·q(r) for |r| ≤ ln 2 / 2. */
  private static final double[] EXP = {
    0.4999999403953552,
    0.16666515171527863,
    0.04166845604777336,
    0.008369418792426586,
    0.001381314592435956
  };

  /** 2^r = 1 + r·q(r) for |r| ≤ 1/2. */
  private static final double[] EXP2 = {
    0.6931471824645996,
    0.24022650718688965,
    0.05550410971045494,
    0.009618032723665237,
    0.0013333425158634782,
    0.00015468390483874828,
    1.531619818706531e-05
  };

  /** tanh x = x + x³·q(x²) for |x| ≤ 0.64. */
  private static final double[] TANH = {
    -0.3333333134651184,
    0.1333318054676056,
    -0.05394339933991432,
    0.021681640297174454,
    -0.008128995075821877,
    0.0020977165549993515
  };

  /** erf x = x·q(x²) for |x| ≤ 0.95. */
  private static final double[] ERF = {
    1.128379225730896,
    -0.37612631916999817,
    0.11283672600984573,
    -0.026858104392886162,
    0.00519779697060585,
    -0.0008105964516289532,
    8.215421985369176e-05
  };

  /** ln erfc x for 0.9 ≤ x ≤ 4. */
  private static final double[] LOG_ERFC = {
    0.0001705523900454864, -1.1294951438903809, -0.6333866715431213, -0.10823662579059601,
    0.025091499090194702, -0.0041605280712246895, 0.0004323032917454839, -2.0909581508021802e-05
  };

  /** sin r = r + r³·q(r²) for |r| ≤ π/2. */
  private static final double[] SIN = {
    -0.1666666716337204,
    0.008333330973982811,
    -0.00019840843742713332,
    2.7524079087015707e-06,
    -2.3865592169158845e-08
  };

  /** ln(1 + f) = f - f²/2 + f³·q(f) for √½ - 1 ≤ f ≤ √2 - 1. */
  private static final double[] LOG = {
    0.33333316445350647, -0.2500082552433014, 0.20002374053001404, -0.16623997688293457,
    0.1417883038520813, -0.13132236897945404, 0.12900131940841675, -0.07872822880744934
  };

  private final Type type;
  private final Type ints;
  private final UnaryOperator<Expr> let;

  private MathExpansions(Type type, UnaryOperator<Expr> let) {
    this.type = type;
    this.ints = type.withDType(DType.I32);
    this.let = let;
  }

  static boolean has(MathOp op) {
    return switch (op) {
      case EXP, EXP2, LOG, SIN, COS, TANH, ERF, FLOOR, CEIL -> true;
      case EXP2_APPROX, TANH_APPROX, SIN_APPROX, COS_APPROX -> true;
      case FMA, SQRT, RSQRT, POW, ABS, RCP_APPROX -> false;
    };
  }

  /**
   * The function of an f32 scalar or vector.
   *
   * @param let binds a value that is used several times and gives its variable
   */
  static Expr expand(MathOp op, Expr argument, UnaryOperator<Expr> let) {
    MathExpansions m = new MathExpansions(argument.type(), let);
    Expr x = let.apply(argument);
    return switch (op) {
      case EXP -> m.exp(x);
      case EXP2, EXP2_APPROX -> m.exp2(x);
      case LOG -> m.log(x);
      case SIN, SIN_APPROX -> m.sin(x);
      case COS, COS_APPROX -> m.cos(x);
      case TANH, TANH_APPROX -> m.tanh(x);
      case ERF -> m.erf(x);
      case FLOOR -> m.floor(x);
      case CEIL -> new Expr.Unary(UnaryOp.NEG, m.floor(let.apply(neg(x))));
      case FMA, SQRT, RSQRT, POW, ABS, RCP_APPROX ->
          throw new IllegalArgumentException("no expansion of " + op);
    };
  }

  // ---- the functions -----------------------------------------------------------------------

  private Expr exp(Expr x) {
    // Comparisons with NaN fail, so NaN passes the clamps and comes out as NaN.
    Expr low = let.apply(select(lt(x, f(-104)), f(-104), x));
    Expr clamped = let.apply(select(lt(f(89), low), f(89), low));
    Expr rounded = let.apply(fma(clamped, f(1 / Math.log(2)), f(ROUNDER)));
    Expr n = let.apply(sub(rounded, f(ROUNDER)));
    Expr r = let.apply(fma(n, f(-LN2_LOW), fma(n, f(-LN2_HIGH), clamped)));
    Expr q = polynomial(r, EXP);
    Expr p = fma(mul(r, r), q, r);
    return scaled(add(p, f(1)), rounded);
  }

  /** e^x for -80 ≤ x ≤ 80 and NaN: one step of scaling is enough. */
  private Expr expBounded(Expr x) {
    Expr rounded = let.apply(fma(x, f(1 / Math.log(2)), f(ROUNDER)));
    Expr n = let.apply(sub(rounded, f(ROUNDER)));
    Expr r = let.apply(fma(n, f(-LN2_LOW), fma(n, f(-LN2_HIGH), x)));
    Expr p = fma(mul(r, r), polynomial(r, EXP), r);
    // The low bits of the rounder are zero, so that the shift leaves n alone in the exponent.
    Expr exponent = binary(BinaryOp.SHL, bits(rounded), i(23));
    Expr power = binary(BinaryOp.ADD, exponent, i(Float.floatToRawIntBits(1)));
    return mul(add(p, f(1)), floats(power));
  }

  private Expr exp2(Expr x) {
    Expr low = let.apply(select(lt(x, f(-151)), f(-151), x));
    Expr clamped = let.apply(select(lt(f(129), low), f(129), low));
    Expr rounded = let.apply(add(clamped, f(ROUNDER)));
    Expr r = let.apply(sub(clamped, sub(rounded, f(ROUNDER))));
    return scaled(fma(r, polynomial(r, EXP2), f(1)), rounded);
  }

  /** {@code p · 2ⁿ} for the n in the low bits of {@code rounded}, in two steps of half of it. */
  private Expr scaled(Expr p, Expr rounded) {
    Expr n = let.apply(sub(bits(rounded), i(Float.floatToRawIntBits((float) ROUNDER))));
    Expr half = let.apply(binary(BinaryOp.SHR, n, i(1)));
    return mul(mul(p, power(half)), power(sub(n, half)));
  }

  /** {@code 2ⁿ} for -126 ≤ n ≤ 127. */
  private Expr power(Expr n) {
    return floats(binary(BinaryOp.SHL, binary(BinaryOp.ADD, n, i(127)), i(23)));
  }

  private Expr tanh(Expr x) {
    Expr a = let.apply(abs(x));
    Expr square = let.apply(mul(x, x));
    Expr small = fma(mul(square, a), polynomial(square, TANH), a);
    // From 10 on the result is 1.
    Expr t = let.apply(select(lt(f(10), a), f(10), a));
    Expr e = expBounded(let.apply(add(t, t)));
    Expr large = sub(f(1), div(f(2), add(e, f(1))));
    return signed(select(lt(a, f(0.625)), small, large), x);
  }

  private Expr erf(Expr x) {
    Expr a = let.apply(abs(x));
    Expr square = let.apply(mul(x, x));
    Expr small = mul(x, polynomial(square, ERF));
    Expr t = let.apply(select(lt(f(4), a), f(4), a));
    Expr large = sub(f(1), expBounded(let.apply(polynomial(t, LOG_ERFC))));
    return select(lt(a, f(0.921875)), small, signed(large, x));
  }

  /** Of the magnitude, with the sign put back at the end, so that a zero keeps its sign. */
  private Expr sin(Expr x) {
    Expr a = let.apply(abs(x));
    Expr rounded = let.apply(fma(a, f(1 / Math.PI), f(ROUNDER)));
    Expr n = let.apply(sub(rounded, f(ROUNDER)));
    Expr r = let.apply(fma(n, f(-PI_LOW), fma(n, f(-PI_MIDDLE), fma(n, f(-PI_HIGH), a))));
    Expr parity = binary(BinaryOp.SHL, bits(rounded), i(31));
    Expr sign = binary(BinaryOp.BIT_AND, bits(x), i(0x8000_0000));
    return trigonometric(MathOp.SIN, x, r, binary(BinaryOp.BIT_XOR, parity, sign));
  }

  /** cos x = (-1)^(q+1) · sin r for x = r + (2q + 1)·π/2. */
  private Expr cos(Expr x) {
    Expr rounded = let.apply(add(sub(mul(x, f(1 / Math.PI)), f(0.5)), f(ROUNDER)));
    Expr n = let.apply(fma(f(2), sub(rounded, f(ROUNDER)), f(1)));
    Expr r =
        let.apply(fma(n, f(-PI_LOW / 2), fma(n, f(-PI_MIDDLE / 2), fma(n, f(-PI_HIGH / 2), x))));
    Expr flip = binary(BinaryOp.SHL, binary(BinaryOp.ADD, bits(rounded), i(1)), i(31));
    return trigonometric(MathOp.COS, x, r, flip);
  }

  /** sin r with its sign bit flipped where {@code flip} has it; the function beyond the limit. */
  private Expr trigonometric(MathOp op, Expr x, Expr r, Expr flip) {
    Expr square = let.apply(mul(r, r));
    Expr value = fma(mul(square, r), polynomial(square, SIN), r);
    Expr flipped = floats(binary(BinaryOp.BIT_XOR, bits(value), flip));
    return select(lt(abs(x), f(TRIGONOMETRIC_LIMIT)), flipped, Exprs.call(op, x));
  }

  private Expr log(Expr x) {
    Expr tiny = lt(x, f(0x1p-126));
    Expr normal = let.apply(select(tiny, mul(x, f(0x1p23)), x));
    // Counted from √½, so that the fraction lies in [√½, √2).
    Expr shifted = let.apply(sub(bits(normal), i(0x3F35_04F3)));
    Expr exponent = let.apply(cast(DType.F32, binary(BinaryOp.SHR, shifted, i(23))));
    Expr fraction =
        floats(
            binary(
                BinaryOp.ADD, binary(BinaryOp.BIT_AND, shifted, i(0x007F_FFFF)), i(0x3F35_04F3)));
    Expr e = let.apply(select(tiny, sub(exponent, f(23)), exponent));
    Expr g = let.apply(sub(fraction, f(1)));
    Expr square = let.apply(mul(g, g));
    Expr tail = fma(mul(square, g), polynomial(g, LOG), mul(f(-0.5), square));
    Expr result = fma(e, f(LN2_HIGH), add(fma(e, f(LN2_LOW), tail), g));
    Expr infinity = f(Double.POSITIVE_INFINITY);
    Expr positive = select(lt(x, infinity), result, x);
    Expr nan = f(Double.NaN);
    Expr zero = f(Double.NEGATIVE_INFINITY);
    Expr edge = select(binary(BinaryOp.EQ, x, f(0)), zero, nan);
    // NaN is not greater than 0: it lands in the last arm.
    return select(lt(f(0), x), positive, edge);
  }

  private Expr floor(Expr x) {
    Expr t = let.apply(cast(DType.F32, cast(DType.I32, x)));
    Expr below = select(lt(x, t), sub(t, f(1)), t);
    Expr integral =
        binary(
            BinaryOp.OR,
            binary(BinaryOp.EQ, x, t),
            new Expr.Unary(UnaryOp.NOT, lt(abs(x), f(0x1p23))));
    // An integer stays itself, so that the sign of zero does.
    return select(integral, x, below);
  }

  // ---- the pieces --------------------------------------------------------------------------

  private Expr polynomial(Expr x, double[] coefficients) {
    Expr sum = f(coefficients[coefficients.length - 1]);
    for (int k = coefficients.length - 2; k >= 0; k--) {
      sum = fma(sum, x, f(coefficients[k]));
    }
    return sum;
  }

  /** The magnitude of a positive value with the sign of x. */
  private Expr signed(Expr value, Expr x) {
    Expr sign = binary(BinaryOp.BIT_AND, bits(x), i(0x8000_0000));
    return floats(binary(BinaryOp.BIT_OR, bits(value), sign));
  }

  private Expr f(double value) {
    return Exprs.constant(type, value);
  }

  private Expr i(int value) {
    return Exprs.constant(ints, value);
  }

  private Expr bits(Expr x) {
    return new Expr.Bitcast(ints, x);
  }

  private Expr floats(Expr x) {
    return new Expr.Bitcast(type, x);
  }

  private static Expr cast(DType dtype, Expr x) {
    return new Expr.Cast(x.type().withDType(dtype), x);
  }

  private static Expr binary(BinaryOp op, Expr a, Expr b) {
    return new Expr.Binary(op, a, b);
  }

  private static Expr add(Expr a, Expr b) {
    return binary(BinaryOp.ADD, a, b);
  }

  private static Expr sub(Expr a, Expr b) {
    return binary(BinaryOp.SUB, a, b);
  }

  private static Expr mul(Expr a, Expr b) {
    return binary(BinaryOp.MUL, a, b);
  }

  private static Expr div(Expr a, Expr b) {
    return binary(BinaryOp.DIV, a, b);
  }

  private static Expr lt(Expr a, Expr b) {
    return binary(BinaryOp.LT, a, b);
  }

  private static Expr fma(Expr a, Expr b, Expr c) {
    return Exprs.fma(a, b, c);
  }

  private static Expr abs(Expr x) {
    return Exprs.call(MathOp.ABS, x);
  }

  private static Expr neg(Expr x) {
    return new Expr.Unary(UnaryOp.NEG, x);
  }

  private static Expr select(Expr condition, Expr then, Expr otherwise) {
    return new Expr.Select(condition, then, otherwise);
  }
}
