package dev.warpwright.model.build;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.workload.Activation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The activations that take more than one elementwise operator, as PyTorch defines them. */
public final class Activations {
  /** From here on log(1 + eˣ) and x are the same in single precision. */
  public static final double SOFTPLUS_IS_LINEAR = 17;

  private static final float SELU_ALPHA = 1.6732632f;
  private static final float SELU_SCALE = 1.050701f;

  private final Arithmetic arithmetic;

  /** Operators that add to a graph. */
  public Activations(GraphBuilder builder) {
    this.arithmetic = new Arithmetic(builder);
  }

  /** x · sigmoid(factor · x). */
  public Term silu(Term x, double factor) {
    if (factor == 1) {
      return arithmetic.unary(Activation.SILU, x);
    }
    Term scaled = arithmetic.binary(ElementwiseOp.MUL, x, factor);
    return arithmetic.binary(ElementwiseOp.MUL, x, arithmetic.unary(Activation.SIGMOID, scaled));
  }

  /** x if x &gt; 0, otherwise alpha · (eˣ − 1); all of it times scale. */
  public Term elu(Term x, double alpha, double scale) {
    if ((float) alpha == SELU_ALPHA && (float) scale == SELU_SCALE) {
      return arithmetic.unary(Activation.SELU, x);
    }
    Term result = arithmetic.binary(ElementwiseOp.ELU, x, alpha);
    return scale == 1 ? result : arithmetic.binary(ElementwiseOp.MUL, result, scale);
  }

  /** max(x, 0) + min(0, alpha · (e^(x / alpha) − 1)). */
  public Term celu(Term x, double alpha) {
    if (alpha == 1) {
      return elu(x, 1, 1);
    }
    Term inner = arithmetic.binary(ElementwiseOp.DIV, x, alpha);
    Term elu = arithmetic.binary(ElementwiseOp.ELU, inner, 1);
    return arithmetic.binary(ElementwiseOp.MUL, elu, alpha);
  }

  /** log(1 + e^(beta · x)) / beta, and x where beta · x is above the threshold. */
  public Term softplus(Term x, double beta, double threshold) {
    Term inner = beta == 1 ? x : arithmetic.binary(ElementwiseOp.MUL, x, beta);
    Term smooth = arithmetic.unary(Activation.SOFTPLUS, inner);
    Term scaled = beta == 1 ? smooth : arithmetic.binary(ElementwiseOp.DIV, smooth, beta);
    if (threshold >= SOFTPLUS_IS_LINEAR) {
      return scaled;
    }
    Term above = arithmetic.binary(ElementwiseOp.GREATER, inner, threshold);
    return arithmetic.apply(ElementwiseOp.WHERE, List.of(above, x, scaled));
  }

  /** alpha · x + beta, not below 0 and not above 1. */
  public Term hardSigmoid(Term x, double alpha, double beta) {
    if ((float) alpha == (float) (1.0 / 6) && beta == 0.5) {
      return arithmetic.unary(Activation.HARDSIGMOID, x);
    }
    Term line = arithmetic.binary(ElementwiseOp.MUL, x, alpha);
    Term shifted = arithmetic.binary(ElementwiseOp.ADD, line, beta);
    return clip(shifted, number(0, x), number(1, x));
  }

  /** x, not below low and not above high. */
  public Term clip(Term x, @Nullable Term low, @Nullable Term high) {
    Term raised = low == null ? x : arithmetic.binary(ElementwiseOp.MAX, x, low);
    return high == null ? raised : arithmetic.binary(ElementwiseOp.MIN, raised, high);
  }

  /** x if x &gt; threshold, otherwise value. */
  public Term threshold(Term x, double threshold, double value) {
    Term above = arithmetic.binary(ElementwiseOp.GREATER, x, threshold);
    return arithmetic.apply(ElementwiseOp.WHERE, List.of(above, x, number(value, x)));
  }

  private static Term number(double value, Term like) {
    return Arithmetic.number(value, Arithmetic.dtype(like));
  }
}
