package dev.warpwright.sim.expr;

import dev.warpwright.ir.MathOp;

/** The functions of {@link MathOp} in double precision. */
public final class MathFunctions {
  private static final double TWO_OVER_SQRT_PI = 1.1283791670955126;

  private MathFunctions() {}

  /** A function of one argument. */
  public interface Function {
    double apply(double x);
  }

  /** The function of one argument; approximations are computed exactly. */
  public static Function unary(MathOp op) {
    return switch (op) {
      case EXP -> Math::exp;
      case EXP2, EXP2_APPROX -> x -> Math.pow(2, x);
      case LOG -> Math::log;
      case SQRT -> Math::sqrt;
      case RSQRT -> x -> 1 / Math.sqrt(x);
      case SIN, SIN_APPROX -> Math::sin;
      case COS, COS_APPROX -> Math::cos;
      case TANH, TANH_APPROX -> Math::tanh;
      case ERF -> MathFunctions::erf;
      case ABS -> Math::abs;
      case FLOOR -> Math::floor;
      case CEIL -> Math::ceil;
      case RCP_APPROX -> x -> 1 / x;
      case FMA, POW -> throw new IllegalArgumentException(op + " takes more than one argument");
    };
  }

  /** The error function, within about 1e-15 relative. */
  public static double erf(double x) {
    double magnitude = Math.abs(x);
    if (Double.isNaN(x) || magnitude >= 6) {
      return Double.isNaN(x) ? x : Math.copySign(1, x);
    }
    return Math.copySign(magnitude < 3 ? series(magnitude) : 1 - tail(magnitude), x);
  }

  /** 2/√π · exp(-x²) · Σ 2ⁿ x²ⁿ⁺¹ / (1·3·…·(2n+1)); all terms are positive, nothing cancels. */
  private static double series(double x) {
    double square = x * x;
    double term = x;
    double sum = x;
    for (int n = 1; term > sum * 1e-18; n++) {
      term *= 2 * square / (2 * n + 1);
      sum += term;
    }
    return TWO_OVER_SQRT_PI * Math.exp(-square) * sum;
  }

  /** erfc(x) for x ≥ 3 by its continued fraction, from the inside out. */
  private static double tail(double x) {
    double fraction = x;
    for (int n = 60; n >= 1; n--) {
      fraction = x + n / 2.0 / fraction;
    }
    return Math.exp(-x * x) / (fraction * Math.sqrt(Math.PI));
  }
}
