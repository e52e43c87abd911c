package dev.warpwright.model.build;

import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Products of rows with constant matrices. */
public final class Gemms {
  private final GraphBuilder builder;
  private final Arithmetic arithmetic;
  private final Shapes shapes;

  /** Operators that add to a graph. */
  public Gemms(GraphBuilder builder) {
    this.builder = builder;
    this.arithmetic = new Arithmetic(builder);
    this.shapes = new Shapes(builder);
  }

  /** x · weightᵀ + bias with a weight [N, K], as PyTorch's linear layers have it. */
  public Term linear(Term x, Term weight, @Nullable Term bias) {
    if (bias == null || folds(bias)) {
      return product(computed(x, weight), weight, true, bias);
    }
    Term result = product(computed(x, weight), weight, true, null);
    return arithmetic.binary(ElementwiseOp.ADD, result, bias);
  }

  /** a · b as in NumPy, where one is constant. */
  public Term matmul(Term a, Term b) {
    if (b instanceof Term.Constant(ConstantTensor weight)) {
      matrix(weight);
    }
    if (a instanceof Term.Constant matrix && b instanceof Term.Computed vector) {
      return transposed(matrix, vector);
    }
    return product(computed(a, b), b, false, null);
  }

  /** alpha · a′ · b′ + beta · c, where a′ and b′ are transposed if asked for. */
  public Term gemm(
      Term a,
      Term b,
      @Nullable Term c,
      double alpha,
      double beta,
      boolean transposeA,
      boolean transposeB) {
    if (transposeA && a instanceof Term.Computed) {
      throw builder.error("transA=1 of a computed matrix is not row-wise, which is not supported");
    }
    Term.Computed x = computed(a, b);
    if (x.rank() != 2) {
      throw builder.error("its input " + x.typeText() + " must have two dimensions");
    }
    Term addend = c != null && beta != 0 ? c : null;
    if (alpha == 1 && beta == 1 && addend != null && folds(addend)) {
      return product(x, b, transposeB, addend);
    }
    Term result = product(x, b, transposeB, null);
    if (alpha != 1) {
      result = arithmetic.binary(ElementwiseOp.MUL, result, alpha);
    }
    if (addend != null && beta != 1) {
      addend = arithmetic.binary(ElementwiseOp.MUL, addend, beta);
    }
    return addend == null ? result : arithmetic.binary(ElementwiseOp.ADD, result, addend);
  }

  private Term.Computed computed(Term x, Term weight) {
    if (x instanceof Term.Computed computed && weight instanceof Term.Constant) {
      return computed;
    }
    throw builder.error(
        "multiplies "
            + describe(x)
            + " with "
            + describe(weight)
            + "; the first must be computed, the second constant");
  }

  private static String describe(Term term) {
    return (term instanceof Term.Constant ? "a constant " : "a computed ") + term.typeText();
  }

  /** Whether a bias can be part of the product's node. */
  private static boolean folds(Term bias) {
    return bias instanceof Term.Constant(ConstantTensor tensor)
        && tensor.shape().stream().filter(s -> s != 1).count() <= 1
        && (tensor.rank() == 0 || tensor.shape().getLast() == tensor.count());
  }

  /** A product with a weight of [K, N] or [K], or of [N, K] if outputs come first in it. */
  private Term product(Term.Computed x, Term weight, boolean outputsFirst, @Nullable Term bias) {
    ConstantTensor stored = ((Term.Constant) weight).tensor();
    ConstantTensor matrix = matrix(stored);
    List<Long> inner = x.inner();
    long k = matrix.shape().get(outputsFirst && stored.rank() > 1 ? 1 : 0);
    long n = matrix.count() / k;
    String what = "the GEMM of " + x.typeText() + " and " + weight.typeText();
    if (inner.isEmpty()) {
      throw builder.actsOnRows(what + " adds up rows, which is not row-wise");
    }
    if (inner.getLast() != k || n > Integer.MAX_VALUE) {
      throw builder.error(
          "weight " + weight.typeText() + " does not fit the input " + x.typeText());
    }
    List<Long> result = new ArrayList<>(inner.subList(0, inner.size() - 1));
    if (Constants.product(result) != 1) {
      throw builder.error(what + " works on a part of each row's features, which is not supported");
    }
    if (stored.rank() > 1) {
      result.add(n);
    }
    Value output = builder.value(x.value(), n);
    ConstantTensor added = bias == null ? null : vector(((Term.Constant) bias).tensor(), n);
    ConstantTensor outputsInputs =
        outputsFirst || n == 1
            ? Constants.reshape(matrix, List.of(n, k))
            : builder.transpose(matrix);
    builder.emit(new Linear(output, x.value(), outputsInputs, added, builder.nodeName()));
    return new Term.Computed(output, x.outer(), result, x.dtype());
  }

  /** A matrix in front of a vector for each row is a product with it transposed. */
  private Term transposed(Term.Constant left, Term.Computed x) {
    List<Dim> dims = x.dims();
    boolean column =
        dims.size() >= 2 && dims.getLast().equals(new Dim.Fixed(1)) && x.inner().size() >= 2;
    matrix(left.tensor());
    if ((dims.size() != 1 && !column) || left.tensor().rank() != 2) {
      throw builder.actsOnRows(
          "multiplies a constant "
              + left.typeText()
              + " with "
              + x.typeText()
              + " from the left, which is not row-wise");
    }
    Term flat = column ? shapes.squeeze(x, List.of(-1L)) : x;
    Term result = product((Term.Computed) flat, left, true, null);
    return column ? shapes.unsqueeze(result, List.of(-1L)) : result;
  }

  /** [K, N]; a vector is a matrix of one column, and leading dimensions of size 1 are left out. */
  private ConstantTensor matrix(ConstantTensor tensor) {
    List<Long> shape = tensor.shape();
    int rank = shape.size();
    boolean fits =
        rank > 0
            && tensor.count() > 0
            && shape.subList(0, Math.max(0, rank - 2)).stream().allMatch(s -> s == 1);
    if (!fits) {
      throw builder.error("weight " + tensor.typeText() + " must be a matrix that is not empty");
    }
    return rank == 1
        ? Constants.reshape(tensor, List.of(shape.getFirst(), 1L))
        : Constants.reshape(tensor, shape.subList(rank - 2, rank));
  }

  private ConstantTensor vector(ConstantTensor bias, long n) {
    if (bias.count() != n && bias.count() != 1) {
      throw builder.error("bias " + bias.typeText() + " does not fit " + n + " outputs");
    }
    if (bias.count() == n) {
      return Constants.reshape(bias, List.of(n));
    }
    builder.reserve(n * 16);
    return Constants.pick(bias, List.of(n), new long[Math.toIntExact(n)]);
  }
}
