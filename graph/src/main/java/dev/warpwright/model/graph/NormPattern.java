package dev.warpwright.model.graph;

import dev.warpwright.workload.Pointwise;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Recognises (x − mean(x)) / √(mean((x − mean(x))²) + ε), as exporters write layer normalisation
 * where the operator set has none: the square as a power or a product, the quotient as a division
 * or a product with the reciprocal.
 */
final class NormPattern {
  private final Map<Value, Node> producers;

  private NormPattern(Map<Value, Node> producers) {
    this.producers = producers;
  }

  /** The layer normalisation that a node ends, or null. */
  static @Nullable LayerNorm match(Elementwise node, Map<Value, Node> producers) {
    NormPattern pattern = new NormPattern(producers);
    RmsNorm quotient =
        pattern.quotient(
            node,
            (value, root) -> {
              Value x = pattern.centredOf(value);
              return x != null && x == pattern.centredOf(root);
            });
    Value x = quotient == null ? null : pattern.centredOf(quotient.input());
    return quotient == null || x == null
        ? null
        : new LayerNorm(node.output(), x, null, null, quotient.epsilon(), node.name());
  }

  /** The RMS norm that a node ends, its factors included, or null. */
  static @Nullable RmsNorm rms(Elementwise node, Map<Value, Node> producers) {
    NormPattern pattern = new NormPattern(producers);
    List<Operand> operands = node.operands();
    for (int i = 0; i < 2 && operands.size() == 2 && node.kind() == ElementwiseOp.MUL; i++) {
      if (operands.get(i) instanceof Operand.OfTensor factors
          && factors.tensor().count() == node.output().features()
          && operands.get(1 - i) instanceof Operand.OfValue(Value unit)
          && producers.get(unit) instanceof Elementwise divided) {
        RmsNorm found = pattern.quotient(divided, (x, root) -> x == root);
        return found == null ? null : new RmsNorm(found.input(), factors.tensor(), found.epsilon());
      }
    }
    return pattern.quotient(node, (x, root) -> x == root);
  }

  /** A value by √(mean(root²) + ε), where root may be what is asked for; or null. */
  private @Nullable RmsNorm quotient(Elementwise node, BiPredicate<Value, Value> isOf) {
    if (node.inputs().size() != 2) {
      return null;
    }
    Value first = node.inputs().get(0);
    Value second = node.inputs().get(1);
    return switch (node.kind()) {
      case ElementwiseOp.DIV -> quotient(first, root(second), isOf);
      case ElementwiseOp.MUL -> {
        RmsNorm found = quotient(first, inverseRoot(second), isOf);
        yield found != null ? found : quotient(second, inverseRoot(first), isOf);
      }
      default -> null;
    };
  }

  private @Nullable RmsNorm quotient(
      Value value, @Nullable Value shifted, BiPredicate<Value, Value> isOf) {
    if (shifted == null || !(producers.get(shifted) instanceof Elementwise sum)) {
      return null;
    }
    Scaled shift = withScalar(sum);
    if (sum.kind() != ElementwiseOp.ADD || shift == null || !(shift.scalar() >= 0)) {
      return null;
    }
    Value squares = meanOf(shift.value());
    Value root = squares == null ? null : squareOf(squares);
    return root != null && isOf.test(value, root) ? new RmsNorm(value, null, shift.scalar()) : null;
  }

  /** The x of x − mean(x), or null. */
  private @Nullable Value centredOf(Value value) {
    return elementwise(value, ElementwiseOp.SUB) instanceof Elementwise e
            && e.inputs().size() == 2
            && meanOf(e.inputs().get(1)) == e.inputs().get(0)
        ? e.inputs().get(0)
        : null;
  }

  private @Nullable Value meanOf(Value value) {
    return producers.get(value) instanceof RowReduce reduce && reduce.kind() == RowReduce.Kind.MEAN
        ? reduce.input()
        : null;
  }

  private @Nullable Value squareOf(Value value) {
    if (elementwise(value, ElementwiseOp.MUL) instanceof Elementwise e
        && e.inputs().size() == 2
        && e.inputs().get(0) == e.inputs().get(1)) {
      return e.inputs().get(0);
    }
    Elementwise power = elementwise(value, ElementwiseOp.POW);
    return power == null ? null : baseOf(power, 2);
  }

  private @Nullable Value root(Value value) {
    if (elementwise(value, ElementwiseOp.SQRT) instanceof Elementwise e) {
      return e.inputs().getFirst();
    }
    Elementwise power = elementwise(value, ElementwiseOp.POW);
    return power == null ? null : baseOf(power, 0.5);
  }

  private @Nullable Value inverseRoot(Value value) {
    if (elementwise(value, ElementwiseOp.RECIPROCAL) instanceof Elementwise e) {
      return root(e.inputs().getFirst());
    }
    if (elementwise(value, ElementwiseOp.DIV) instanceof Elementwise e
        && e.inputs().size() == 1
        && e.operands().getFirst() instanceof Operand.OfTensor one
        && one.isScalar()
        && one.tensor().doubleAt(0) == 1) {
      return root(e.inputs().getFirst());
    }
    Elementwise power = elementwise(value, ElementwiseOp.POW);
    return power == null ? null : baseOf(power, -0.5);
  }

  private static @Nullable Value baseOf(Elementwise power, double exponent) {
    return power.operands().get(0) instanceof Operand.OfValue(Value base)
            && power.operands().get(1) instanceof Operand.OfTensor constant
            && constant.isScalar()
            && constant.tensor().doubleAt(0) == exponent
        ? base
        : null;
  }

  private record Scaled(Value value, double scalar) {}

  private static @Nullable Scaled withScalar(Elementwise e) {
    for (int i = 0; i < 2 && e.operands().size() == 2; i++) {
      if (e.operands().get(i) instanceof Operand.OfValue(Value value)
          && e.operands().get(1 - i) instanceof Operand.OfTensor constant
          && constant.isScalar()) {
        return new Scaled(value, constant.tensor().doubleAt(0));
      }
    }
    return null;
  }

  private @Nullable Elementwise elementwise(Value value, Pointwise op) {
    return producers.get(value) instanceof Elementwise e && e.kind() == op ? e : null;
  }
}
