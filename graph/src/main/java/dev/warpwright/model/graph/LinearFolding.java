package dev.warpwright.model.graph;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Pointwise;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes factors and summands for each feature into the linear layer before or behind them, which is
 * what becomes of batch normalisation. Weights of less than single precision keep their factors
 * outside, because scaled weights would have to be rounded again.
 */
final class LinearFolding {
  private final Map<Value, Node> producers;
  private final Map<Value, Integer> uses;

  LinearFolding(Map<Value, Node> producers, Map<Value, Integer> uses) {
    this.producers = producers;
    this.uses = uses;
  }

  /** A factor or summand for each feature. */
  private record Step(Value input, Pointwise kind, ConstantTensor vector) {
    double factor(int feature) {
      double v = vector.doubleAt(feature);
      return kind == ElementwiseOp.MUL ? v : kind == ElementwiseOp.DIV ? 1 / v : 1;
    }

    double summand(int feature) {
      double v = vector.doubleAt(feature);
      return kind == ElementwiseOp.ADD ? v : kind == ElementwiseOp.SUB ? -v : 0;
    }

    boolean scales() {
      return kind == ElementwiseOp.MUL || kind == ElementwiseOp.DIV;
    }
  }

  private static @Nullable Step step(Node node) {
    if (!(node instanceof Elementwise e) || e.operands().size() != 2 || e.inputs().size() != 1) {
      return null;
    }
    boolean first = e.operands().getFirst() instanceof Operand.OfValue;
    boolean fits =
        switch (e.kind()) {
          case ElementwiseOp.ADD, ElementwiseOp.MUL -> true;
          case ElementwiseOp.SUB, ElementwiseOp.DIV -> first;
          default -> false;
        };
    ConstantTensor vector = e.constants().getFirst();
    Value input = e.inputs().getFirst();
    return fits && vector.rank() == 1 && input.features() == vector.count()
        ? new Step(input, e.kind(), vector)
        : null;
  }

  /** The linear layer that computes what a step behind a linear layer does, or null. */
  @Nullable Linear behind(Elementwise node) {
    Step step = step(node);
    if (step == null
        || !isPrivate(step.input())
        || !(producers.get(step.input()) instanceof Linear linear)
        || (step.scales() && !isWide(linear.weight()))) {
      return null;
    }
    ConstantTensor weight =
        step.scales()
            ? Matrices.map(linear.weight(), (n, k, old) -> old * step.factor(n))
            : linear.weight();
    ConstantTensor bias = linear.bias();
    boolean alone = bias == null && step.kind() == ElementwiseOp.ADD;
    if (bias == null && step.scales()) {
      return new Linear(node.output(), linear.input(), weight, null, linear.name());
    }
    double[] values = new double[node.output().features()];
    for (int n = 0; n < values.length; n++) {
      double old = bias == null ? 0 : bias.doubleAt(n);
      values[n] = old * step.factor(n) + step.summand(n);
    }
    ConstantTensor sum = alone ? step.vector() : vector(linear, values);
    return new Linear(node.output(), linear.input(), weight, sum, linear.name());
  }

  /** The linear layer that does what a step before it does too, or null. */
  @Nullable Linear before(Linear linear) {
    Node producer = producers.get(linear.input());
    Step step = producer == null ? null : step(producer);
    if (step == null || !isPrivate(linear.input()) || !isWide(linear.weight())) {
      return null;
    }
    if (step.scales()) {
      ConstantTensor weight = Matrices.map(linear.weight(), (n, k, old) -> old * step.factor(k));
      return new Linear(linear.output(), step.input(), weight, linear.bias(), linear.name());
    }
    double[] values = new double[linear.output().features()];
    int inputs = linear.input().features();
    for (int n = 0; n < values.length; n++) {
      values[n] = linear.bias() == null ? 0 : linear.bias().doubleAt(n);
      for (int k = 0; k < inputs; k++) {
        values[n] += linear.weight().doubleAt((long) n * inputs + k) * step.summand(k);
      }
    }
    return new Linear(
        linear.output(), step.input(), linear.weight(), vector(linear, values), linear.name());
  }

  private boolean isPrivate(Value value) {
    return uses.getOrDefault(value, 0) == 1;
  }

  private static boolean isWide(ConstantTensor weight) {
    return weight.dtype() == DType.F32 || weight.dtype() == DType.F64;
  }

  private static ConstantTensor vector(Linear linear, double[] values) {
    String name = linear.bias() == null ? linear.name() : linear.bias().name();
    DType dtype = linear.weight().dtype() == DType.F64 ? DType.F64 : DType.F32;
    return ConstantTensor.ofDoubles(name, dtype, List.of((long) values.length), values);
  }
}
