package dev.warpwright.model.graph;

import java.util.Locale;

/**
 * An operator that computes each element from the elements at the same place. Constants give its
 * meaning in double precision; NaN operands give NaN results, except in comparisons and choices.
 *
 * <p>Truth is a number too: comparisons and logic give 1 or 0, and take everything but 0 for true.
 */
public enum ElementwiseOp {
  /** a + b. */
  ADD(2),
  /** a − b. */
  SUB(2),
  /** a · b. */
  MUL(2),
  /** a / b. */
  DIV(2),
  /** a to the power b. */
  POW(2),
  /** The smaller; NaN if either is NaN. */
  MIN(2),
  /** The larger; NaN if either is NaN. */
  MAX(2),
  /** a &gt; b. */
  GREATER(2),
  /** a ≥ b. */
  GREATER_EQUAL(2),
  /** a &lt; b. */
  LESS(2),
  /** a ≤ b. */
  LESS_EQUAL(2),
  /** a = b. */
  EQUAL(2),
  /** a ≠ b. */
  NOT_EQUAL(2),
  /** a and b. */
  AND(2),
  /** a or b. */
  OR(2),
  /** Either a or b. */
  XOR(2),
  /** Not a. */
  NOT(1),
  /** b if a, otherwise c. */
  WHERE(3),
  /** The operand itself. */
  IDENTITY(1),
  NEG(1),
  ABS(1),
  /** −1, 0 or 1. */
  SIGN(1),
  /** The largest whole number that is not larger. */
  FLOOR(1),
  /** The smallest whole number that is not smaller. */
  CEIL(1),
  /** 1 / a. */
  RECIPROCAL(1),
  SQRT(1),
  EXP(1),
  /** The natural logarithm. */
  LOG(1),
  SIN(1),
  COS(1),
  TANH(1),
  ERF(1),
  /** 1 / (1 + e⁻ᵃ). */
  SIGMOID(1),
  /** max(a, 0). */
  RELU(1),
  /** a if a ≥ 0, otherwise a · b: LeakyReLU with a number b, PReLU with a vector. */
  LEAKY_RELU(2),
  /** a if a &gt; 0, otherwise b · (eᵃ − 1). */
  ELU(2),
  /** log(1 + eᵃ). */
  SOFTPLUS(1),
  /** a · tanh(log(1 + eᵃ)). */
  MISH(1),
  /** a · ½ (1 + erf(a / √2)). */
  GELU(1),
  /** a · ½ (1 + tanh(√(2/π) (a + 0.044715 a³))). */
  GELU_TANH(1);

  private static final double SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);

  private final int arity;

  ElementwiseOp(int arity) {
    this.arity = arity;
  }

  /** The number of operands: 1 to 3. */
  public int arity() {
    return arity;
  }

  /** The name in lower case, for example {@code gelu_tanh}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether the result is truth: 1 or 0. */
  public boolean isTruth() {
    return switch (this) {
      case GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, XOR, NOT -> true;
      default -> false;
    };
  }

  /** The value of an operator in double precision; operands beyond its arity are ignored. */
  public double apply(double a, double b, double c) {
    return switch (this) {
      case ADD -> a + b;
      case SUB -> a - b;
      case MUL -> a * b;
      case DIV -> a / b;
      case POW -> Math.pow(a, b);
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case GREATER -> truth(a > b);
      case GREATER_EQUAL -> truth(a >= b);
      case LESS -> truth(a < b);
      case LESS_EQUAL -> truth(a <= b);
      case EQUAL -> truth(a == b);
      case NOT_EQUAL -> truth(a != b);
      case AND -> truth(a != 0 && b != 0);
      case OR -> truth(a != 0 || b != 0);
      case XOR -> truth((a != 0) != (b != 0));
      case NOT -> truth(a == 0);
      case WHERE -> a != 0 ? b : c;
      case IDENTITY -> a;
      case NEG -> -a;
      case ABS -> Math.abs(a);
      case SIGN -> Math.signum(a);
      case FLOOR -> Math.floor(a);
      case CEIL -> Math.ceil(a);
      case RECIPROCAL -> 1 / a;
      case SQRT -> Math.sqrt(a);
      case EXP -> Math.exp(a);
      case LOG -> Math.log(a);
      case SIN -> Math.sin(a);
      case COS -> Math.cos(a);
      case TANH -> Math.tanh(a);
      case ERF -> Erf.erf(a);
      case SIGMOID -> sigmoid(a);
      case RELU -> Math.max(a, 0);
      case LEAKY_RELU -> a >= 0 ? a : a * b;
      case ELU -> a > 0 ? a : b * Math.expm1(a);
      case SOFTPLUS -> softplus(a);
      case MISH -> a * Math.tanh(softplus(a));
      // erfc keeps full relative accuracy in the negative tail, where 1 + erf would cancel
      case GELU -> a == Double.NEGATIVE_INFINITY ? -0.0 : 0.5 * a * Erf.erfc(-a / Math.sqrt(2));
      case GELU_TANH ->
          a == Double.NEGATIVE_INFINITY
              ? -0.0
              : a * sigmoid(2 * SQRT_2_OVER_PI * (a + 0.044715 * a * a * a));
    };
  }

  /** The value of an operator of at most two operands. */
  public double apply(double a, double b) {
    return apply(a, b, 0);
  }

  private static double truth(boolean holds) {
    return holds ? 1 : 0;
  }

  /** Written so that nothing overflows. */
  private static double softplus(double a) {
    return Math.max(a, 0) + Math.log1p(Math.exp(-Math.abs(a)));
  }

  private static double sigmoid(double a) {
    return 1 / (1 + Math.exp(-a));
  }
}
