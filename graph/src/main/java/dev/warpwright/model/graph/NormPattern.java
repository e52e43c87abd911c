package dev.warpwright.model.graph;

import dev.warpwright.workload.Pointwise;
import java.util.List;
import java.util.Map;
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
    return new NormPattern(producers).norm(node);
  }

  /** The RMS norm that a node ends, its factors included, or null. */
  static @Nullable RmsNorm rms(Elementwise node, Map<Value, Node> producers) {
    NormPattern pattern = new NormPattern(producers);
    List<Operand> operands = node.operands();
    for (int i = 0; i < 2 && operands.size() == 2 && node.kind() == ElementwiseOp.MUL; i++) {
      if (operands.get(i) instanceof Operand.OfTensor factors
          && factors.tensor().count() == node.output().features()
          && operands.get(1 - i) instanceof Operand.OfValue(Value unit)
          && producers.get(unit) instanceof Elementwise quotient) {
        RmsNorm found = pattern.divided(quotient, factors.tensor());
        if (found != null) {
          return found;
        }
      }
    }
    return pattern.divided(node, null);
  }

  private @Nullable RmsNorm divided(Elementwise node, @Nullable ConstantTensor scale) {
    if (node.inputs().size() != 2) {
      return null;
    }
    Value first = node.inputs().get(0);
    Value second = node.inputs().get(1);
    return switch (node.kind()) {
      case ElementwiseOp.DIV -> rms(first, root(second), scale);
      case ElementwiseOp.MUL -> {
        RmsNorm found = rms(first, inverseRoot(second), scale);
        yield found != null ? found : rms(second, inverseRoot(first), scale);
      }
      default -> null;
    };
  }

  /** The norm, if the second value is mean(x²) + ε of the first. */
  private @Nullable RmsNorm rms(Value x, @Nullable Value shifted, @Nullable ConstantTensor scale) {
    if (shifted == null || !(producers.get(shifted) instanceof Elementwise sum)) {
      return null;
    }
    Scaled shift = withScalar(sum);
    if (sum.kind() != ElementwiseOp.ADD || shift == null || !(shift.scalar() >= 0)) {
      return null;
    }
    Value squares = meanOf(shift.value());
    return squares != null && squareOf(squares) == x ? new RmsNorm(x, scale, shift.scalar()) : null;
  }

  private @Nullable LayerNorm norm(Elementwise node) {
    if (node.inputs().size() != 2) {
      return null;
    }
    Value first = node.inputs().get(0);
    Value second = node.inputs().get(1);
    return switch (node.kind()) {
      case ElementwiseOp.DIV -> norm(node, first, root(second));
      case ElementwiseOp.MUL -> {
        LayerNorm found = norm(node, first, inverseRoot(second));
        yield found != null ? found : norm(node, second, inverseRoot(first));
      }
      default -> null;
    };
  }

  /** The normalisation, if one value is x − mean(x) and the other its variance + ε. */
  private @Nullable LayerNorm norm(Elementwise node, Value centred, @Nullable Value shifted) {
    Value x = centredOf(centred);
    if (x == null || shifted == null || !(producers.get(shifted) instanceof Elementwise sum)) {
      return null;
    }
    Scaled shift = withScalar(sum);
    if (sum.kind() != ElementwiseOp.ADD || shift == null || !(shift.scalar() >= 0)) {
      return null;
    }
    Value squares = meanOf(shift.value());
    Value root = squares == null ? null : squareOf(squares);
    return root != null && centredOf(root) == x
        ? new LayerNorm(node.output(), x, null, null, shift.scalar(), node.name())
        : null;
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
