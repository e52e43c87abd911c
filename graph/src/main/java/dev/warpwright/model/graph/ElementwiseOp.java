package dev.warpwright.model.graph;

import dev.warpwright.ir.Expr;
import dev.warpwright.workload.Pointwise;
import java.util.List;
import java.util.Locale;

/**
 * The pointwise operators that are no activations: arithmetic, comparisons, choices, functions of
 * unbounded slope, and functions with a number. Truth is a number too: comparisons and logic give 1
 * or 0, and take everything but 0 for true.
 */
public enum ElementwiseOp implements Pointwise {
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
  /** a if a ≥ 0, otherwise a · b: LeakyReLU with a number b, PReLU with a vector. */
  LEAKY_RELU(2),
  /** a if a &gt; 0, otherwise b · (eᵃ − 1). */
  ELU(2);

  private final int arity;

  ElementwiseOp(int arity) {
    this.arity = arity;
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
    return switch (this) {
      case GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, XOR, NOT -> true;
      default -> false;
    };
  }

  @Override
  public Rounding rounding() {
    return switch (this) {
      case GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, XOR, NOT ->
          Rounding.EXACT;
      case WHERE, IDENTITY, NEG, ABS, SIGN, FLOOR, CEIL, MIN, MAX -> Rounding.EXACT;
      case ADD, SUB, MUL, DIV, RECIPROCAL, SQRT, LEAKY_RELU -> Rounding.ONCE;
      case POW, EXP -> Rounding.FUNCTION;
      case LOG, ELU -> Rounding.FUNCTION_OF_ONE;
    };
  }

  @Override
  public Expr formula(List<Expr> operands) {
    return Formulas.apply(this, operands);
  }

  @Override
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
      case LEAKY_RELU -> a >= 0 ? a : a * b;
      case ELU -> a > 0 ? a : b * Math.expm1(a);
    };
  }

  private static double truth(boolean holds) {
    return holds ? 1 : 0;
  }
}
