package dev.warpwright.model.build;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.List;

/** Elementwise operators, broadcasting as in NumPy. */
public final class Arithmetic {
  private final GraphBuilder builder;

  /** Operators that add to a graph. */
  public Arithmetic(GraphBuilder builder) {
    this.builder = builder;
  }

  /** An operator of one operand. */
  public Term unary(Pointwise op, Term x) {
    return apply(op, List.of(x));
  }

  /** An operator of two operands. */
  public Term binary(Pointwise op, Term a, Term b) {
    return apply(op, List.of(a, b));
  }

  /** An operator of two operands, of which one is a number. */
  public Term binary(Pointwise op, Term a, double b) {
    return binary(op, a, number(b, dtype(a)));
  }

  /** An associative operator of any number of operands. */
  public Term chain(Pointwise op, List<Term> terms) {
    Term result = terms.getFirst();
    for (Term term : terms.subList(1, terms.size())) {
      result = binary(op, result, term);
    }
    return result;
  }

  /**
   * An operator.
   *
   * @param operands as many as it takes
   */
  public Term apply(Pointwise op, List<Term> operands) {
    if (operands.stream().anyMatch(Term.Sizes.class::isInstance)) {
      return SizeArithmetic.apply(builder, op, operands);
    }
    if (operands.stream().allMatch(Term.Constant.class::isInstance)) {
      return fold(op, operands);
    }
    Shape shape = shape(operands);
    List<Operand> made = new ArrayList<>();
    for (Term operand : operands) {
      made.add(operand(operand, shape));
    }
    Value like = like(operands);
    Value output = builder.value(like, Constants.product(shape.inner()));
    DType dtype = op.isTruth() ? DType.BOOL : dtype(op, operands);
    Value value = builder.emit(new Elementwise(output, op, made, builder.nodeName()));
    return new Term.Computed(value, shape.outer(), shape.inner(), dtype);
  }

  /** A constant of no dimensions. */
  public static Term number(double value, DType dtype) {
    DType type = dtype.isFloat() ? dtype : DType.F64;
    return new Term.Constant(ConstantTensor.ofDoubles("", type, List.of(), value));
  }

  /** The type of a term. */
  public static DType dtype(Term term) {
    return switch (term) {
      case Term.Computed computed -> computed.dtype();
      case Term.Constant(ConstantTensor tensor) -> tensor.dtype();
      case Term.Sizes sizes -> DType.I64;
    };
  }

  private static DType dtype(Pointwise op, List<Term> operands) {
    List<Term> typed = op == ElementwiseOp.WHERE ? operands.subList(1, 3) : operands;
    // A number that is made here has no type of its own, so that of a computed operand counts.
    for (Term term : typed) {
      if (term instanceof Term.Computed computed) {
        return computed.dtype();
      }
    }
    return dtype(typed.getFirst());
  }

  private Term fold(Pointwise op, List<Term> operands) {
    List<ConstantTensor> tensors =
        operands.stream().map(operand -> ((Term.Constant) operand).tensor()).toList();
    List<Long> shape = Constants.broadcast(tensors.stream().map(ConstantTensor::shape).toList());
    if (shape == null || ConstantTensor.elementCount(shape) < 0) {
      throw builder.error("constants " + types(operands) + " do not broadcast");
    }
    builder.reserve(ConstantTensor.elementCount(shape), 8L * (2 + tensors.size()));
    return new Term.Constant(Constants.apply(builder.resultName(), op, tensors, shape));
  }

  // ---- broadcasting ------------------------------------------------------------------------

  private record Shape(List<Dim> outer, List<Long> inner) {}

  private static Value like(List<Term> operands) {
    for (Term operand : operands) {
      if (operand instanceof Term.Computed computed) {
        return computed.value();
      }
    }
    throw new IllegalStateException("no operand is computed");
  }

  /** The shape of the result; rows must be rows in each computed operand. */
  private Shape shape(List<Term> operands) {
    int inner = 0;
    for (Term operand : operands) {
      if (operand instanceof Term.Computed computed) {
        inner = Math.max(inner, computed.inner().size());
      }
    }
    List<Dim> outer = List.of();
    List<List<Long>> inners = new ArrayList<>();
    boolean first = true;
    for (Term operand : operands) {
      switch (operand) {
        case Term.Computed computed -> {
          Term.Computed aligned = aligned(computed, inner, operands);
          inners.add(aligned.inner());
          outer = first ? aligned.outer() : sameRows(outer, aligned.outer(), operands);
          first = false;
        }
        case Term.Constant(ConstantTensor tensor) -> {
          int split = Math.max(0, tensor.rank() - inner);
          inners.add(tensor.shape().subList(split, tensor.rank()));
        }
        case Term.Sizes sizes -> throw new IllegalStateException("sizes are handled elsewhere");
      }
    }
    for (Term operand : operands) {
      if (operand instanceof Term.Constant(ConstantTensor tensor)) {
        outer = constantRows(outer, tensor, inner, operands);
      }
    }
    List<Long> shape = Constants.broadcast(inners);
    if (shape == null) {
      throw builder.error("operands " + types(operands) + " do not broadcast");
    }
    long features = ConstantTensor.elementCount(shape);
    if (features < 1 || features > Integer.MAX_VALUE) {
      throw builder.error("operands " + types(operands) + " broadcast to too many features");
    }
    return new Shape(outer, shape);
  }

  /** With so many dimensions of features; rows of size 1 may count as such. */
  private Term.Computed aligned(Term.Computed term, int inner, List<Term> operands) {
    List<Dim> outer = new ArrayList<>(term.outer());
    List<Long> result = new ArrayList<>(term.inner());
    while (result.size() < inner) {
      if (!outer.isEmpty() && !outer.removeLast().equals(new Dim.Fixed(1))) {
        throw builder.actsOnRows(
            "operands "
                + types(operands)
                + " broadcast features along rows, which is not row-wise");
      }
      result.addFirst(1L);
    }
    return term.withDims(outer, result);
  }

  /** All values have the same rows; what must not be is that they are rows in different places. */
  private List<Dim> sameRows(List<Dim> a, List<Dim> b, List<Term> operands) {
    List<Dim> longer = a.size() >= b.size() ? a : b;
    List<Dim> shorter = a.size() >= b.size() ? b : a;
    int pad = longer.size() - shorter.size();
    List<Dim> result = new ArrayList<>();
    boolean left = false;
    boolean right = false;
    for (int d = 0; d < longer.size(); d++) {
      Dim x = longer.get(d);
      Dim y = d < pad ? new Dim.Fixed(1) : shorter.get(d - pad);
      left |= isOne(x) && !isOne(y);
      right |= isOne(y) && !isOne(x);
      result.add(isOne(x) || (y instanceof Dim.Fixed && !isOne(y)) ? y : x);
    }
    if (left && right) {
      throw builder.actsOnRows(
          "operands " + types(operands) + " combine each row with others, which is not row-wise");
    }
    return result;
  }

  private List<Dim> constantRows(
      List<Dim> outer, ConstantTensor tensor, int inner, List<Term> operands) {
    List<Dim> result = new ArrayList<>(outer);
    int own = Math.max(0, tensor.rank() - inner);
    for (int d = 0; d < own; d++) {
      if (tensor.shape().get(d) != 1) {
        throw builder.actsOnRows(
            "the constant in "
                + types(operands)
                + " differs from row to row, which is not row-wise");
      }
    }
    while (result.size() < own) {
      result.addFirst(new Dim.Fixed(1));
    }
    return result;
  }

  private static boolean isOne(Dim dim) {
    return dim.equals(new Dim.Fixed(1));
  }

  private Operand operand(Term term, Shape shape) {
    long features = Constants.product(shape.inner());
    return switch (term) {
      case Term.Computed computed -> {
        Value value = computed.value();
        List<Long> from = inner(computed, shape.inner().size());
        boolean fits = value.features() == 1 || from.equals(shape.inner());
        yield new Operand.OfValue(
            fits ? value : builder.columns(value, Constants.sources(from, shape.inner())));
      }
      case Term.Constant(ConstantTensor tensor) -> {
        int split = Math.max(0, tensor.rank() - shape.inner().size());
        List<Long> from = tensor.shape().subList(split, tensor.rank());
        if (tensor.count() == 1) {
          yield new Operand.OfTensor(Constants.reshape(tensor, List.of()));
        }
        if (tensor.count() == features) {
          yield new Operand.OfTensor(Constants.reshape(tensor, List.of(features)));
        }
        builder.reserve(features * 16);
        yield new Operand.OfTensor(
            Constants.pick(tensor, List.of(features), Constants.sources(from, shape.inner())));
      }
      case Term.Sizes sizes -> throw new IllegalStateException("sizes are handled elsewhere");
    };
  }

  private static List<Long> inner(Term.Computed term, int size) {
    List<Long> inner = new ArrayList<>(term.inner());
    while (inner.size() < size) {
      inner.addFirst(1L);
    }
    return inner;
  }

  private static String types(List<Term> operands) {
    List<String> types = operands.stream().map(Term::typeText).toList();
    return types.size() == 1
        ? types.getFirst()
        : String.join(", ", types.subList(0, types.size() - 1)) + " and " + types.getLast();
  }
}
