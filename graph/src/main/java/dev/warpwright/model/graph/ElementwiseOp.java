package dev.warpwright.model.graph;

import dev.warpwright.ir.BinaryOp;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.MathOp;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.tensor.Ops;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * The pointwise operators that are no activations: arithmetic, comparisons, choices, functions of
 * unbounded slope, and functions with a number. Truth is a number too: comparisons and logic give 1
 * or 0, and take everything but 0 for true. Each row has its f32 expression, written so that it is
 * accurate for small results too and nothing overflows on the way, and its meaning in double
 * precision.
 */
public enum ElementwiseOp implements Pointwise {
  /** a + b. */
  ADD(Rounding.ONCE, (a, b) -> Exprs.add(a, b), (a, b) -> a + b),
  /** a − b. */
  SUB(Rounding.ONCE, (a, b) -> Exprs.sub(a, b), (a, b) -> a - b),
  /** a · b. */
  MUL(Rounding.ONCE, (a, b) -> Exprs.mul(a, b), (a, b) -> a * b),
  /** a / b. */
  DIV(Rounding.ONCE, (a, b) -> Exprs.div(a, b), (a, b) -> a / b),
  /** a to the power b. */
  POW(Rounding.FUNCTION, (a, b) -> power(a, b), (a, b) -> Math.pow(a, b)),
  /** The smaller; NaN if either is NaN. */
  MIN(Rounding.EXACT, (a, b) -> extreme(a, b, true), (a, b) -> Math.min(a, b)),
  /** The larger; NaN if either is NaN. */
  MAX(Rounding.EXACT, (a, b) -> extreme(a, b, false), (a, b) -> Math.max(a, b)),
  /** a &gt; b. */
  GREATER(
      Rounding.EXACT, (a, b) -> number(new Expr.Binary(BinaryOp.GT, a, b)), (a, b) -> truth(a > b)),
  /** a ≥ b. */
  GREATER_EQUAL(
      Rounding.EXACT,
      (a, b) -> number(new Expr.Binary(BinaryOp.GE, a, b)),
      (a, b) -> truth(a >= b)),
  /** a &lt; b. */
  LESS(
      Rounding.EXACT, (a, b) -> number(new Expr.Binary(BinaryOp.LT, a, b)), (a, b) -> truth(a < b)),
  /** a ≤ b. */
  LESS_EQUAL(
      Rounding.EXACT,
      (a, b) -> number(new Expr.Binary(BinaryOp.LE, a, b)),
      (a, b) -> truth(a <= b)),
  /** a = b. */
  EQUAL(
      Rounding.EXACT,
      (a, b) -> number(new Expr.Binary(BinaryOp.EQ, a, b)),
      (a, b) -> truth(a == b)),
  /** a ≠ b. */
  NOT_EQUAL(
      Rounding.EXACT,
      (a, b) -> number(new Expr.Binary(BinaryOp.NE, a, b)),
      (a, b) -> truth(a != b)),
  /** a and b. */
  AND(
      Rounding.EXACT,
      (a, b) -> Exprs.select(truth(a), number(truth(b)), Exprs.f32(0)),
      (a, b) -> truth(a != 0 && b != 0)),
  /** a or b. */
  OR(
      Rounding.EXACT,
      (a, b) -> Exprs.select(truth(a), Exprs.f32(1), number(truth(b))),
      (a, b) -> truth(a != 0 || b != 0)),
  /** Either a or b. */
  XOR(
      Rounding.EXACT,
      (a, b) -> Exprs.select(truth(a), negated(b), number(truth(b))),
      (a, b) -> truth((a != 0) != (b != 0))),
  /** Not a. */
  NOT(Rounding.EXACT, a -> negated(a), a -> truth(a == 0)),
  /** b if a, otherwise c. */
  WHERE(Rounding.EXACT, (a, b, c) -> Exprs.select(truth(a), b, c), (a, b, c) -> a != 0 ? b : c),
  /** The operand itself. */
  IDENTITY(Rounding.EXACT, a -> a, a -> a),
  /** −a. */
  NEG(Rounding.EXACT, a -> Ops.negate(a), a -> -a),
  /** The absolute value. */
  ABS(Rounding.EXACT, a -> Exprs.call(MathOp.ABS, a), a -> Math.abs(a)),
  /** −1, 0 or 1. */
  SIGN(
      Rounding.EXACT,
      a ->
          Exprs.select(
              Exprs.lt(a, Exprs.f32(0)),
              Exprs.f32(-1),
              Exprs.select(Exprs.lt(Exprs.f32(0), a), Exprs.f32(1), a)),
      a -> Math.signum(a)),
  /** The largest whole number that is not larger. */
  FLOOR(Rounding.EXACT, a -> Exprs.call(MathOp.FLOOR, a), a -> Math.floor(a)),
  /** The smallest whole number that is not smaller. */
  CEIL(Rounding.EXACT, a -> Exprs.call(MathOp.CEIL, a), a -> Math.ceil(a)),
  /** 1 / a. */
  RECIPROCAL(Rounding.ONCE, a -> Exprs.div(Exprs.f32(1), a), a -> 1 / a),
  /** The square root; NaN of negative numbers. */
  SQRT(Rounding.ONCE, a -> Exprs.call(MathOp.SQRT, a), a -> Math.sqrt(a)),
  /** eᵃ. */
  EXP(Rounding.FUNCTION, a -> Exprs.call(MathOp.EXP, a), a -> Math.exp(a)),
  /** The natural logarithm. */
  LOG(Rounding.FUNCTION_OF_ONE, a -> Exprs.call(MathOp.LOG, a), a -> Math.log(a)),
  /** a if a ≥ 0, otherwise a · b: LeakyReLU with a number b, PReLU with a vector. */
  LEAKY_RELU(
      Rounding.ONCE,
      (a, b) -> Exprs.select(Exprs.lt(a, Exprs.f32(0)), Exprs.mul(a, b), a),
      (a, b) -> a >= 0 ? a : a * b),
  /** a if a &gt; 0, otherwise b · (eᵃ − 1). */
  ELU(Rounding.FUNCTION_OF_ONE, (a, b) -> Ops.elu(a, b), (a, b) -> a > 0 ? a : b * Math.expm1(a));

  private static final Set<ElementwiseOp> TRUTHS =
      EnumSet.of(GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, XOR, NOT);

  private final int arity;
  private final Rounding rounding;
  private final Function<List<Expr>, Expr> formula;
  private final Meaning meaning;

  /** The operator in double precision. */
  @FunctionalInterface
  private interface Meaning {
    double apply(double a, double b, double c);
  }

  /** The operator as an expression of its three operands. */
  @FunctionalInterface
  private interface Choice {
    Expr of(Expr a, Expr b, Expr c);
  }

  ElementwiseOp(Rounding rounding, UnaryOperator<Expr> formula, DoubleUnaryOperator meaning) {
    this(1, rounding, x -> formula.apply(x.getFirst()), (a, b, c) -> meaning.applyAsDouble(a));
  }

  ElementwiseOp(Rounding rounding, BinaryOperator<Expr> formula, DoubleBinaryOperator meaning) {
    this(
        2,
        rounding,
        x -> formula.apply(x.get(0), x.get(1)),
        (a, b, c) -> meaning.applyAsDouble(a, b));
  }

  ElementwiseOp(Rounding rounding, Choice formula, Meaning meaning) {
    this(3, rounding, x -> formula.of(x.get(0), x.get(1), x.get(2)), meaning);
  }

  ElementwiseOp(int arity, Rounding rounding, Function<List<Expr>, Expr> formula, Meaning meaning) {
    this.arity = arity;
    this.rounding = rounding;
    this.formula = formula;
    this.meaning = meaning;
  }

  @Override
  public int arity() {
    return arity;
  }

  @Override
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean isTruth() {
    return TRUTHS.contains(this);
  }

  @Override
  public Rounding rounding() {
    return rounding;
  }

  @Override
  public Expr formula(List<Expr> operands) {
    return formula.apply(operands);
  }

  @Override
  public double apply(double a, double b, double c) {
    return meaning.apply(a, b, c);
  }

  private static double truth(boolean holds) {
    return holds ? 1 : 0;
  }

  private static Expr number(Expr condition) {
    return Exprs.select(condition, Exprs.f32(1), Exprs.f32(0));
  }

  private static Expr negated(Expr a) {
    return Exprs.select(truth(a), Exprs.f32(0), Exprs.f32(1));
  }

  /** Whether a number is true; the condition itself, if the number was made from one. */
  private static Expr truth(Expr a) {
    if (a instanceof Expr.Select(Expr condition, Expr.FloatImm one, Expr.FloatImm zero)
        && one.value() == 1
        && zero.value() == 0) {
      return condition;
    }
    return new Expr.Binary(BinaryOp.NE, a, Exprs.f32(0));
  }

  /** Small whole exponents by multiplication, which is exact for negative bases too. */
  private static Expr power(Expr a, Expr exponent) {
    if (exponent instanceof Expr.FloatImm imm) {
      if (imm.value() == 1) {
        return a;
      }
      if (imm.value() == 2) {
        return Exprs.mul(a, a);
      }
      if (imm.value() == 3) {
        return Exprs.mul(Exprs.mul(a, a), a);
      }
      if (imm.value() == -1) {
        return Exprs.div(Exprs.f32(1), a);
      }
      if (imm.value() == 0.5) {
        return Exprs.call(MathOp.SQRT, a);
      }
      if (imm.value() == -0.5) {
        return Exprs.div(Exprs.f32(1), Exprs.call(MathOp.SQRT, a));
      }
    }
    return Exprs.call(MathOp.POW, a, exponent);
  }

  /** The smaller or larger of the two; NaN if either is NaN, unlike the IR's min and max. */
  private static Expr extreme(Expr a, Expr b, boolean smaller) {
    Expr chosen = smaller ? Exprs.min(a, b) : Exprs.max(a, b);
    Expr unlessB = b instanceof Expr.FloatImm ? chosen : Exprs.select(isNan(b), b, chosen);
    return a instanceof Expr.FloatImm ? unlessB : Exprs.select(isNan(a), a, unlessB);
  }

  private static Expr isNan(Expr a) {
    return new Expr.Binary(BinaryOp.NE, a, a);
  }
}
