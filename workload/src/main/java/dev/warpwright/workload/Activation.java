package dev.warpwright.workload;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.tensor.Ops;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The activations: functions of one number with a bounded slope. A row is all there is to one.
 * Importers, epilogues, back ends, references and exporters read it; {@code
 * docs/extending/activation.md} says how to add one.
 *
 * <p>A row says, in this order: its operator in ONNX, if that has no attributes; a bound of its
 * slope; how it is rounded; the expression that kernels compute, accurate for small results too and
 * without overflow on the way; its meaning in double precision; the same in PyTorch and in C++, for
 * exported checks, something that a factor may follow. Its name in lower case is PyTorch's.
 */
public enum Activation implements Pointwise {
  /** The number itself. */
  NONE(null, 1, Rounding.EXACT, x -> x, x -> x, "(%s)", "x"),

  /** max(x, 0). */
  RELU(
      "Relu",
      1,
      Rounding.EXACT,
      Activation::positive,
      x -> Math.max(x, 0),
      "torch.nn.functional.relu(%s)",
      "std::max(x, 0.0)"),

  /** min(max(x, 0), 6). */
  RELU6(
      null,
      1,
      Rounding.EXACT,
      x -> atMostSix(positive(x)),
      x -> Math.min(Math.max(x, 0), 6),
      "torch.nn.functional.relu6(%s)",
      "std::min(std::max(x, 0.0), 6.0)"),

  /** x · ½ (1 + erf(x / √2)). */
  GELU(
      "com.microsoft.Gelu",
      1.13,
      Rounding.FUNCTION_OF_ONE,
      x ->
          Exprs.mul(half(x), Exprs.add(one(x), call(MathOp.ERF, times(x, 0.70710678118654752440)))),
      // erfc keeps full relative accuracy in the negative tail, where 1 + erf would cancel
      x -> x == Double.NEGATIVE_INFINITY ? -0.0 : 0.5 * x * Erf.erfc(-x / Math.sqrt(2)),
      "torch.nn.functional.gelu(%s)",
      "0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))"),

  /** x · ½ (1 + tanh(√(2/π) (x + 0.044715 x³))). */
  GELU_TANH(
      null,
      1.13,
      Rounding.FUNCTION_OF_ONE,
      x -> Exprs.mul(half(x), Exprs.add(one(x), call(MathOp.TANH, innerOfGelu(x)))),
      x ->
          x == Double.NEGATIVE_INFINITY
              ? -0.0
              : x * logistic(2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)),
      "torch.nn.functional.gelu(%s, approximate=\"tanh\")",
      "0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"),

  /** x / (1 + e⁻ˣ). */
  SILU(
      null,
      1.1,
      Rounding.FUNCTION,
      x -> Exprs.mul(x, logistic(x)),
      x -> x * logistic(x),
      "torch.nn.functional.silu(%s)",
      "x / (1 + std::exp(-x))"),

  /** tanh x. */
  TANH(
      "Tanh",
      1,
      Rounding.FUNCTION_OF_ONE,
      x -> call(MathOp.TANH, x),
      Math::tanh,
      "torch.tanh(%s)",
      "std::tanh(x)"),

  /** 1 / (1 + e⁻ˣ). */
  SIGMOID(
      "Sigmoid",
      0.25,
      Rounding.FUNCTION,
      Activation::logistic,
      Activation::logistic,
      "torch.sigmoid(%s)",
      "1 / (1 + std::exp(-x))"),

  /** log(1 + eˣ). */
  SOFTPLUS(
      "Softplus",
      1,
      Rounding.FUNCTION_OF_ONE,
      Activation::softplus,
      Activation::softplus,
      "torch.nn.functional.softplus(%s, threshold=700)",
      "(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))))"),

  /** x · tanh(log(1 + eˣ)). */
  MISH(
      "Mish",
      1.09,
      Rounding.FUNCTION_OF_ONE,
      Activation::mish,
      x -> x * Math.tanh(softplus(x)),
      "torch.nn.functional.mish(%s)",
      "x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))))"),

  /** min(max(x + 3, 0), 6) / 6. */
  HARDSIGMOID(
      null,
      0.17,
      Rounding.ONCE,
      Activation::ramp,
      Activation::ramp,
      "torch.nn.functional.hardsigmoid(%s)",
      "std::min(std::max(x + 3, 0.0), 6.0) / 6"),

  /** x · min(max(x + 3, 0), 6) / 6. */
  HARDSWISH(
      "HardSwish",
      1.5,
      Rounding.ONCE,
      x -> Exprs.mul(x, ramp(x)),
      x -> x * ramp(x),
      "torch.nn.functional.hardswish(%s)",
      "x * std::min(std::max(x + 3, 0.0), 6.0) / 6"),

  /** ELU with the constants that keep mean and variance. */
  SELU(
      null,
      1.76,
      Rounding.FUNCTION_OF_ONE,
      x -> times(Ops.elu(x, Exprs.constant(x.type(), Constants.ALPHA)), Constants.SCALE),
      x -> Constants.SCALE * (x > 0 ? x : Constants.ALPHA * Math.expm1(x)),
      "torch.nn.functional.selu(%s)",
      "1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x))"),

  /** x / (1 + |x|). */
  SOFTSIGN(
      "Softsign",
      1,
      Rounding.ONCE,
      x -> Exprs.div(x, Exprs.add(call(MathOp.ABS, x), one(x))),
      x -> x / (1 + Math.abs(x)),
      "torch.nn.functional.softsign(%s)",
      "x / (1 + std::abs(x))"),

  /** sin x, of an angle in radians. */
  SIN(
      "Sin",
      1,
      Rounding.FUNCTION_OF_ONE,
      x -> call(MathOp.SIN, x),
      Math::sin,
      "torch.sin(%s)",
      "std::sin(x)"),

  /** cos x, of an angle in radians. */
  COS(
      "Cos",
      1,
      Rounding.FUNCTION_OF_ONE,
      x -> call(MathOp.COS, x),
      Math::cos,
      "torch.cos(%s)",
      "std::cos(x)"),

  /** The error function. */
  ERF(
      "Erf",
      1.13,
      Rounding.FUNCTION,
      x -> call(MathOp.ERF, x),
      Erf::erf,
      "torch.erf(%s)",
      "std::erf(x)");

  private final @Nullable String onnx;
  private final double slope;
  private final Rounding rounding;
  private final UnaryOperator<Expr> formula;
  private final DoubleUnaryOperator value;
  private final String torch;
  private final String cpp;

  Activation(
      @Nullable String onnx,
      double slope,
      Rounding rounding,
      UnaryOperator<Expr> formula,
      DoubleUnaryOperator value,
      String torch,
      String cpp) {
    this.onnx = onnx;
    this.slope = slope;
    this.rounding = rounding;
    this.formula = formula;
    this.value = value;
    this.torch = torch;
    this.cpp = cpp;
  }

  /**
   * {@return the function applied to a value of a floating-point type}
   *
   * @param x the argument
   */
  public Expr of(Expr x) {
    return formula.apply(x);
  }

  /**
   * {@return the function in double precision}
   *
   * @param x the argument
   */
  public double at(double x) {
    return value.applyAsDouble(x);
  }

  /** {@return a bound of the slope: the Lipschitz constant} */
  public double slope() {
    return slope;
  }

  /** {@return the operator without attributes that it is in ONNX, or null} */
  public @Nullable String onnx() {
    return onnx;
  }

  /**
   * {@return the function in PyTorch, as an expression}
   *
   * @param x the expression of a tensor
   */
  public String torch(String x) {
    return String.format(Locale.ROOT, torch, x);
  }

  /** {@return the function in C++, as an expression of a double {@code x}} */
  public String cpp() {
    return cpp;
  }

  @Override
  public int arity() {
    return 1;
  }

  @Override
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public Rounding rounding() {
    return rounding;
  }

  @Override
  public double apply(double a, double b, double c) {
    return at(a);
  }

  @Override
  public Expr formula(List<Expr> operands) {
    return of(operands.getFirst());
  }

  /**
   * {@return the activation of a name, or null}
   *
   * @param name in lower case, as PyTorch has it
   */
  public static @Nullable Activation named(String name) {
    return Arrays.stream(values()).filter(a -> a.text().equals(name)).findFirst().orElse(null);
  }

  /**
   * Reads the value of the key {@code act}.
   *
   * @param text an activation's name
   * @return the activation of that name
   * @throws UserError if it is no activation
   */
  public static Activation parse(String text) {
    Activation activation = named(text);
    if (activation == null) {
      throw new UserError("act=" + text + ": it is one of " + names());
    }
    return activation;
  }

  /** {@return all names, for messages} */
  public static String names() {
    return Arrays.stream(values()).map(Activation::text).collect(Collectors.joining(", "));
  }

  private static final class Constants {
    static final double ALPHA = 1.6732632423543772848170429916717;
    static final double SCALE = 1.0507009873554804934193349852946;

    private Constants() {}
  }

  private static Expr call(MathOp op, Expr x) {
    return Exprs.call(op, x);
  }

  private static Expr one(Expr x) {
    return Exprs.constant(x.type(), 1);
  }

  private static Expr half(Expr x) {
    return times(x, 0.5);
  }

  private static Expr times(Expr x, double factor) {
    return Exprs.mul(x, Exprs.constant(x.type(), factor));
  }

  /** {@code max(x, 0)}, with NaN kept. */
  private static Expr positive(Expr x) {
    Expr zero = Exprs.zero(x.type());
    return Exprs.select(Exprs.lt(x, zero), zero, x);
  }

  private static Expr logistic(Expr x) {
    return Exprs.div(one(x), Exprs.add(one(x), call(MathOp.EXP, Ops.negate(x))));
  }

  private static double logistic(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  private static Expr innerOfGelu(Expr x) {
    Expr cube = Exprs.mul(Exprs.mul(x, x), x);
    return Exprs.mul(
        Exprs.constant(x.type(), 0.79788456080286535588),
        Exprs.fma(Exprs.constant(x.type(), 0.044715), cube, x));
  }

  /** max(x, 0) + log(1 + e⁻|ˣ|). */
  private static Expr softplus(Expr x) {
    Expr small = call(MathOp.EXP, Ops.negate(call(MathOp.ABS, x)));
    return Exprs.add(positive(x), logOnePlus(small));
  }

  /** Written so that nothing overflows. */
  private static double softplus(double x) {
    return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
  }

  /**
   * log(1 + u) for u ≥ 0: the logarithm of w = 1 + u as rounded, and by how much w is off. Where
   * nothing of u is left in w, it is u.
   */
  private static Expr logOnePlus(Expr u) {
    Expr w = Exprs.add(one(u), u);
    Expr kept = Exprs.sub(w, one(u));
    Expr corrected = Exprs.mul(call(MathOp.LOG, w), Exprs.div(u, kept));
    return Exprs.select(Exprs.lt(Exprs.zero(u.type()), kept), corrected, u);
  }

  /**
   * x · n / (n + 2) with n = eˣ · (eˣ + 2), since tanh(log(1 + e)) is that; from 20 on, or 40 in
   * f64, it is x to the last bit.
   */
  private static Expr mish(Expr x) {
    Expr limit = Exprs.constant(x.type(), x.type().dtype() == DType.F64 ? 40 : 20);
    Expr e = call(MathOp.EXP, Exprs.select(Exprs.lt(limit, x), limit, x));
    Expr two = Exprs.constant(x.type(), 2);
    Expr n = Exprs.mul(e, Exprs.add(e, two));
    return Exprs.mul(x, Exprs.div(n, Exprs.add(n, two)));
  }

  private static Expr ramp(Expr x) {
    Expr shifted = positive(Exprs.add(x, Exprs.constant(x.type(), 3)));
    return Exprs.div(atMostSix(shifted), Exprs.constant(x.type(), 6));
  }

  private static Expr atMostSix(Expr x) {
    Expr six = Exprs.constant(x.type(), 6);
    return Exprs.select(Exprs.lt(six, x), six, x);
  }

  private static double ramp(double x) {
    return Math.min(Math.max(x + 3, 0), 6) / 6;
  }
}
