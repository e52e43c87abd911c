package dev.warpwright.ir;

/**
 * Functions of one element, on float types unless said otherwise; arguments and result have one
 * type, lane by lane.
 *
 * <p>{@link #FMA} rounds once. {@link #SQRT}, {@link #FLOOR}, {@link #CEIL}, {@link #ABS} are exact
 * or correctly rounded; the rest are within 4 ulp in f32 wherever they are executed, but not
 * bit-equal between executors. The {@code _APPROX} forms are the hardware's fast ones, with the
 * error stated at each.
 */
public enum MathOp implements Op {
  /** {@code a * b + c} with one rounding. */
  FMA("fma", 3),
  /** eᵃ. */
  EXP("exp", 1),
  /** 2ᵃ. */
  EXP2("exp2", 1),
  /** The natural logarithm. */
  LOG("log", 1),
  /** The square root, rounded correctly. */
  SQRT("sqrt", 1),
  /** {@code 1 / sqrt(x)}. */
  RSQRT("rsqrt", 1),
  /** The sine of an angle in radians. */
  SIN("sin", 1),
  /** The cosine of an angle in radians. */
  COS("cos", 1),
  /** The hyperbolic tangent. */
  TANH("tanh", 1),
  /** The error function. */
  ERF("erf", 1),
  /** a to the power b. */
  POW("pow", 2),
  /** Integers too. */
  ABS("abs", 1),
  /** The largest whole number that is not larger. */
  FLOOR("floor", 1),
  /** The smallest whole number that is not smaller. */
  CEIL("ceil", 1),
  /** f32 only: at most 2 ulp from the exact result (PTX {@code ex2.approx.ftz.f32}). */
  EXP2_APPROX("exp2_approx", 1),
  /** f32 only: relative error at most 2^-11 (PTX {@code tanh.approx.f32}). */
  TANH_APPROX("tanh_approx", 1),
  /** f32 only: at most 1 ulp (PTX {@code rcp.approx.ftz.f32}). */
  RCP_APPROX("rcp_approx", 1),
  /** f32 only: at most 2^-20.5 off from -π to π (PTX {@code sin.approx.ftz.f32}). */
  SIN_APPROX("sin_approx", 1),
  /** f32 only: at most 2^-20.5 off from -π to π (PTX {@code cos.approx.ftz.f32}). */
  COS_APPROX("cos_approx", 1);

  private final String text;
  private final int arity;

  MathOp(String text, int arity) {
    this.text = text;
    this.arity = arity;
  }

  @Override
  public String text() {
    return text;
  }

  /** {@return how many arguments it takes} */
  public int arity() {
    return arity;
  }

  @Override
  public String toString() {
    return text;
  }
}
