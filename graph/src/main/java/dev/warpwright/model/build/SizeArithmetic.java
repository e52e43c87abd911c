package dev.warpwright.model.build;

import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Elementwise operators on sizes of dimensions. */
final class SizeArithmetic {
  private SizeArithmetic() {}

  static Term apply(GraphBuilder builder, Pointwise op, List<Term> operands) {
    List<Term.Sizes> sizes = new ArrayList<>();
    for (Term operand : operands) {
      Term.Sizes own = of(operand);
      if (own == null) {
        throw builder.error(
            "combines the size of a dimension with "
                + operand.typeText()
                + ", which is not supported");
      }
      sizes.add(own);
    }
    int length = sizes.stream().mapToInt(s -> s.sizes().size()).max().orElse(0);
    List<Size> result = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      List<Size> x = new ArrayList<>();
      for (Term.Sizes operand : sizes) {
        List<Size> all = operand.sizes();
        if (all.size() != 1 && all.size() != length) {
          throw builder.error("sizes of different lengths do not broadcast");
        }
        x.add(all.get(all.size() == 1 ? 0 : i));
      }
      Size one = apply(op, x);
      if (one == null) {
        throw builder.error(
            "computes with the size of a dynamic dimension, which is not supported");
      }
      result.add(one);
    }
    return new Term.Sizes(result, sizes.stream().allMatch(Term.Sizes::scalar));
  }

  /** Whole numbers as sizes; null for anything else. */
  static Term.@Nullable Sizes of(Term term) {
    return switch (term) {
      case Term.Sizes sizes -> sizes;
      case Term.Constant(ConstantTensor tensor) ->
          tensor.rank() > 1 || tensor.dtype().isFloat() || tensor.count() > 64
              ? null
              : new Term.Sizes(known(tensor), tensor.rank() == 0);
      case Term.Computed computed -> null;
    };
  }

  private static List<Size> known(ConstantTensor tensor) {
    List<Size> sizes = new ArrayList<>();
    for (long value : tensor.toLongs()) {
      sizes.add(new Size.Known(value));
    }
    return sizes;
  }

  private static @Nullable Size apply(Pointwise op, List<Size> x) {
    Size a = x.getFirst();
    if (x.stream().allMatch(Size.Known.class::isInstance)) {
      double[] v = new double[3];
      for (int i = 0; i < x.size(); i++) {
        v[i] = ((Size.Known) x.get(i)).value();
      }
      return new Size.Known((long) op.apply(v[0], v[1], v[2]));
    }
    if (op == ElementwiseOp.IDENTITY) {
      return a;
    }
    if (op == ElementwiseOp.WHERE && a instanceof Size.Known(long condition)) {
      return x.get(condition != 0 ? 1 : 2);
    }
    if (x.size() != 2) {
      return null;
    }
    Size b = x.get(1);
    boolean oneLeft = a.equals(new Size.Known(1));
    boolean oneRight = b.equals(new Size.Known(1));
    return switch (op) {
      case ElementwiseOp.MUL -> oneLeft ? b : oneRight ? a : product(a, b);
      case ElementwiseOp.DIV -> oneRight ? a : a.equals(b) ? new Size.Known(1) : null;
      case ElementwiseOp.ADD ->
          a.equals(new Size.Known(0)) ? b : b.equals(new Size.Known(0)) ? a : null;
      case ElementwiseOp.SUB -> b.equals(new Size.Known(0)) ? a : null;
      // A size is never negative, and -1 is how files ask for a dimension to be inferred.
      case ElementwiseOp.EQUAL -> isNegative(a) || isNegative(b) ? new Size.Known(0) : null;
      default -> null;
    };
  }

  /** The size of two dimensions merged into one is some other unknown size. */
  private static @Nullable Size product(Size a, Size b) {
    boolean positive =
        (a instanceof Size.Unknown || a instanceof Size.Known(long v) && v > 0)
            && (b instanceof Size.Unknown || b instanceof Size.Known(long w) && w > 0);
    return positive ? new Size.Unknown(new Dim.Symbolic("")) : null;
  }

  private static boolean isNegative(Size size) {
    return size instanceof Size.Known(long value) && value < 0;
  }
}
