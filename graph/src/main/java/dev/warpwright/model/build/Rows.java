package dev.warpwright.model.build;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Operators over all features of each row: reductions, softmax, normalisation. */
public final class Rows {
  private final GraphBuilder builder;
  private final Arithmetic arithmetic;
  private final Shapes shapes;

  /** Operators that add to a graph. */
  public Rows(GraphBuilder builder) {
    this.builder = builder;
    this.arithmetic = new Arithmetic(builder);
    this.shapes = new Shapes(builder);
  }

  /**
   * A reduction.
   *
   * @param axes over which; empty for all
   * @param keep whether they stay, with size 1
   */
  public Term reduce(RowReduce.Kind kind, Term x, List<Long> axes, boolean keep) {
    if (x instanceof Term.Sizes) {
      Term.Sizes sizes = SizeArithmetic.of(x);
      throw builder.error("reduces sizes of dimensions " + sizes + ", which is not supported");
    }
    int rank = shapes.sizes(x).sizes().size();
    TreeSet<Integer> over = new TreeSet<>();
    axes.forEach(axis -> over.add(shapes.axis(axis, rank)));
    if (axes.isEmpty()) {
      for (int d = 0; d < rank; d++) {
        over.add(d);
      }
    }
    if (x instanceof Term.Constant constant) {
      return fold(kind, constant.tensor(), over, keep);
    }
    Term.Computed computed = (Term.Computed) x;
    requireAllFeatures(computed, over, "reducing");
    Value result = builder.value(computed.value(), 1);
    builder.emit(new RowReduce(result, computed.value(), kind, builder.nodeName()));
    List<Long> ones = new ArrayList<>();
    computed.inner().forEach(extent -> ones.add(1L));
    Term reduced = new Term.Computed(result, computed.outer(), ones, computed.dtype());
    return keep ? reduced : shapes.squeeze(reduced, over.stream().map(Integer::longValue).toList());
  }

  /** All features and nothing but features, up to dimensions of size 1. */
  private void requireAllFeatures(Term.Computed x, TreeSet<Integer> axes, String what) {
    List<Size> sizes = shapes.sizes(x).sizes();
    for (int d = 0; d < sizes.size(); d++) {
      boolean one = sizes.get(d).equals(new Size.Known(1));
      boolean feature = d >= x.outer().size();
      if (!one && !feature && axes.contains(d)) {
        throw builder.actsOnRows(
            what + " " + x.typeText() + " over " + axes + " combines rows, which is not row-wise");
      }
      if (!one && feature && !axes.contains(d)) {
        throw builder.error(
            what
                + " "
                + x.typeText()
                + " over "
                + axes
                + " leaves a part of each row's features, which is not supported");
      }
    }
  }

  private Term fold(
      RowReduce.Kind kind, ConstantTensor tensor, TreeSet<Integer> axes, boolean keep) {
    List<Long> shape = new ArrayList<>(tensor.shape());
    axes.forEach(d -> shape.set(d, 1L));
    builder.reserve(tensor.count(), 16L);
    double[] result = new double[Math.toIntExact(ConstantTensor.elementCount(shape))];
    boolean[] begun = new boolean[result.length];
    long[] targets = Constants.sources(shape, tensor.shape());
    for (int i = 0; i < targets.length; i++) {
      int at = (int) targets[i];
      double x = tensor.doubleAt(i);
      double before = result[at];
      result[at] =
          !begun[at]
              ? x
              : switch (kind) {
                case SUM, MEAN -> before + x;
                case MAX -> Math.max(before, x);
                case MIN -> Math.min(before, x);
              };
      begun[at] = true;
    }
    if (kind == RowReduce.Kind.MEAN) {
      for (int i = 0; i < result.length; i++) {
        result[i] *= (double) result.length / tensor.count();
      }
    }
    ConstantTensor reduced = Constants.of(builder.resultName(), tensor.dtype(), shape, result);
    Term term = new Term.Constant(reduced);
    return keep ? term : shapes.squeeze(term, axes.stream().map(Integer::longValue).toList());
  }

  /** √(Σ x²). */
  public Term norm2(Term x, List<Long> axes, boolean keep) {
    Term squares = arithmetic.binary(ElementwiseOp.MUL, x, x);
    return arithmetic.unary(ElementwiseOp.SQRT, reduce(RowReduce.Kind.SUM, squares, axes, keep));
  }

  /** eˣ / Σ eˣ, with the largest x taken off first, so that nothing overflows. */
  public Term softmax(Term x, long axis) {
    Term shifted = shifted(x, axis);
    Term e = arithmetic.unary(ElementwiseOp.EXP, shifted);
    Term sum = reduce(RowReduce.Kind.SUM, e, List.of(axis), true);
    return arithmetic.binary(ElementwiseOp.DIV, e, sum);
  }

  /** x − log Σ eˣ. */
  public Term logSoftmax(Term x, long axis) {
    Term shifted = shifted(x, axis);
    Term e = arithmetic.unary(ElementwiseOp.EXP, shifted);
    Term sum = reduce(RowReduce.Kind.SUM, e, List.of(axis), true);
    return arithmetic.binary(ElementwiseOp.SUB, shifted, arithmetic.unary(ElementwiseOp.LOG, sum));
  }

  /** log Σ eˣ. */
  public Term logSumExp(Term x, List<Long> axes, boolean keep) {
    Term largest = reduce(RowReduce.Kind.MAX, x, axes, true);
    Term shifted = arithmetic.binary(ElementwiseOp.SUB, x, largest);
    Term e = arithmetic.unary(ElementwiseOp.EXP, shifted);
    Term sum = reduce(RowReduce.Kind.SUM, e, axes, true);
    Term result =
        arithmetic.binary(ElementwiseOp.ADD, arithmetic.unary(ElementwiseOp.LOG, sum), largest);
    List<Long> all = new ArrayList<>(axes);
    for (long d = 0; axes.isEmpty() && d < shapes.sizes(x).sizes().size(); d++) {
      all.add(d);
    }
    return keep ? result : shapes.squeeze(result, all);
  }

  private Term shifted(Term x, long axis) {
    Term largest = reduce(RowReduce.Kind.MAX, x, List.of(axis), true);
    return arithmetic.binary(ElementwiseOp.SUB, x, largest);
  }

  /**
   * (x − mean) / √(variance + epsilon) · scale + bias.
   *
   * @param axis the first of the dimensions that are normalised together
   */
  public Term layerNorm(
      Term x, long axis, @Nullable Term scale, @Nullable Term bias, double epsilon) {
    Term.Computed computed = normalised(x, axis, epsilon);
    ConstantTensor factor = vector(scale, computed);
    ConstantTensor addend = vector(bias, computed);
    boolean whole = (scale == null || factor != null) && (bias == null || addend != null);
    Value output = builder.value(computed.value(), computed.value().features());
    builder.emit(
        new LayerNorm(
            output,
            computed.value(),
            whole ? factor : null,
            whole ? addend : null,
            epsilon,
            builder.nodeName()));
    Term result = new Term.Computed(output, computed.outer(), computed.inner(), computed.dtype());
    return whole ? result : affine(result, scale, bias);
  }

  /** x / √(mean(x²) + epsilon) · scale. */
  public Term rmsNorm(Term x, long axis, @Nullable Term scale, double epsilon) {
    Term.Computed computed = normalised(x, axis, epsilon);
    List<Long> axes = new ArrayList<>();
    for (int d = shapes.axis(axis, computed.rank()); d < computed.rank(); d++) {
      axes.add((long) d);
    }
    Term squares = arithmetic.binary(ElementwiseOp.MUL, x, x);
    Term mean = reduce(RowReduce.Kind.MEAN, squares, axes, true);
    Term deviation =
        arithmetic.unary(ElementwiseOp.SQRT, arithmetic.binary(ElementwiseOp.ADD, mean, epsilon));
    return affine(arithmetic.binary(ElementwiseOp.DIV, x, deviation), scale, null);
  }

  private Term.Computed normalised(Term x, long axis, double epsilon) {
    if (!(epsilon >= 0 && epsilon < Double.POSITIVE_INFINITY)) {
      throw builder.error("epsilon " + epsilon + " must be a small positive number");
    }
    if (!(x instanceof Term.Computed computed)) {
      throw builder.error("normalises " + x.typeText() + ", which is not computed");
    }
    TreeSet<Integer> axes = new TreeSet<>();
    for (int d = shapes.axis(axis, computed.rank()); d < computed.rank(); d++) {
      axes.add(d);
    }
    requireAllFeatures(computed, axes, "normalising");
    return computed;
  }

  /** A constant as one element for each feature, or null if it is anything else. */
  private @Nullable ConstantTensor vector(@Nullable Term term, Term.Computed like) {
    return term instanceof Term.Constant(ConstantTensor tensor)
            && tensor.count() == like.value().features()
            && tensor.rank() <= like.inner().size()
        ? Constants.reshape(tensor, List.of(tensor.count()))
        : null;
  }

  private Term affine(Term x, @Nullable Term scale, @Nullable Term bias) {
    Term scaled = scale == null ? x : arithmetic.binary(ElementwiseOp.MUL, x, scale);
    return bias == null ? scaled : arithmetic.binary(ElementwiseOp.ADD, scaled, bias);
  }

  /**
   * Batch normalisation as in inference: (x − mean) / √(variance + epsilon) · scale + bias for each
   * channel, which is dimension 1, or the only one.
   */
  public Term batchNorm(
      Term x, @Nullable Term scale, @Nullable Term bias, Term mean, Term variance, double epsilon) {
    int rank = shapes.sizes(x).sizes().size();
    DType dtype = Arithmetic.dtype(mean);
    Term deviation =
        arithmetic.unary(
            ElementwiseOp.SQRT,
            arithmetic.binary(ElementwiseOp.ADD, shapes.cast(variance, DType.F64), epsilon));
    Term factor =
        arithmetic.binary(
            ElementwiseOp.DIV,
            scale == null ? Arithmetic.number(1, DType.F64) : shapes.cast(scale, DType.F64),
            deviation);
    Term centre = arithmetic.binary(ElementwiseOp.MUL, shapes.cast(mean, DType.F64), factor);
    Term shift =
        bias == null
            ? arithmetic.unary(ElementwiseOp.NEG, centre)
            : arithmetic.binary(ElementwiseOp.SUB, shapes.cast(bias, DType.F64), centre);
    Term scaled =
        arithmetic.binary(
            ElementwiseOp.MUL, x, perChannel(shapes.cast(factor, single(dtype)), rank));
    return arithmetic.binary(
        ElementwiseOp.ADD, scaled, perChannel(shapes.cast(shift, single(dtype)), rank));
  }

  /** Factors are kept in f32 where the file has less: they are computed, not stored. */
  private static DType single(DType dtype) {
    return dtype == DType.F64 ? DType.F64 : DType.F32;
  }

  private Term perChannel(Term vector, int rank) {
    List<Size> shape = new ArrayList<>();
    shape.add(new Size.Known(-1));
    for (int d = 2; d < rank; d++) {
      shape.add(new Size.Known(1));
    }
    return shapes.reshape(vector, shape, true);
  }
}
