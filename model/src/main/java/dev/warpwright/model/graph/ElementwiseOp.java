package dev.warpwright.model.graph;

import java.util.Locale;

/**
 * An operator that computes each element from the elements at the same place. Constants give its
 * meaning in double precision; NaN operands give NaN results.
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
  /** a to the power b, where b is a constant. */
  POW(2),
  /** The smaller; NaN if either is NaN. */
  MIN(2),
  /** The larger; NaN if either is NaN. */
  MAX(2),
  /** The operand itself. */
  IDENTITY(1),
  NEG(1),
  ABS(1),
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
  /** a · ½ (1 + erf(a / √2)). */
  GELU(1),
  /** a · ½ (1 + tanh(√(2/π) (a + 0.044715 a³))). */
  GELU_TANH(1);

  private static final double SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);

  private final int arity;

  ElementwiseOp(int arity) {
    this.arity = arity;
  }

  /** The number of operands: 1 or 2. */
  public int arity() {
    return arity;
  }

  /** The name in lower case, for example {@code gelu_tanh}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The value of an operator in double precision; {@code b} is ignored by those with one operand.
   */
  public double apply(double a, double b) {
    return switch (this) {
      case ADD -> a + b;
      case SUB -> a - b;
      case MUL -> a * b;
      case DIV -> a / b;
      case POW -> Math.pow(a, b);
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case IDENTITY -> a;
      case NEG -> -a;
      case ABS -> Math.abs(a);
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
      // erfc keeps full relative accuracy in the negative tail, where 1 + erf would cancel
      case GELU -> a == Double.NEGATIVE_INFINITY ? -0.0 : 0.5 * a * Erf.erfc(-a / Math.sqrt(2));
      case GELU_TANH ->
          a == Double.NEGATIVE_INFINITY
              ? -0.0
              : a * sigmoid(2 * SQRT_2_OVER_PI * (a + 0.044715 * a * a * a));
    };
  }

  private static double sigmoid(double a) {
    return 1 / (1 + Math.exp(-a));
  }
}
