package dev.warpwright.workload;

import dev.warpwright.ir.Expr;
import java.util.List;

/**
 * A function that computes each element from the elements at the same place: its meaning in double
 * precision, and the expression that kernels compute. NaN operands give NaN results, except in
 * comparisons and choices.
 */
public interface Pointwise {
  /** What honest arithmetic in f32 makes of a result y. */
  enum Rounding {
    /** Nothing: y is an operand, or small. */
    EXACT,
    /** One rounding or two of y. */
    ONCE,
    /** A function of 4 ulp. */
    FUNCTION,
    /** 4 ulp of what the function passes through near 0, which is of the size of 1. */
    FUNCTION_OF_ONE
  }

  /** {@return the number of operands: 1 to 3} */
  int arity();

  /** {@return the name in lower case, for example {@code gelu_tanh}} */
  String text();

  /** {@return whether the result is truth: 1 or 0} */
  default boolean isTruth() {
    return false;
  }

  /** {@return how results are rounded} */
  Rounding rounding();

  /**
   * {@return the value in double precision; operands beyond the arity are ignored}
   *
   * @param a the first operand
   * @param b the second
   * @param c the third
   */
  double apply(double a, double b, double c);

  /**
   * {@return the value of a function of at most two operands}
   *
   * @param a the first operand
   * @param b the second
   */
  default double apply(double a, double b) {
    return apply(a, b, 0);
  }

  /**
   * {@return the function of as many operands as it takes, all of one floating-point type}
   *
   * @param operands {@link #arity()} expressions
   */
  Expr formula(List<Expr> operands);
}
