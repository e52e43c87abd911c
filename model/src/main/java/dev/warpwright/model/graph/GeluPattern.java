package dev.warpwright.model.graph;

import dev.warpwright.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Recognises x · ½ · (1 + erf(x / √2)), with the factors in any order and association, as exporters
 * write GELU where the operator set has none.
 */
final class GeluPattern {
  private GeluPattern() {}

  /** The GELU that a multiplication ends, or null. */
  static @Nullable Elementwise match(Elementwise node, Map<Value, Node> producers) {
    if (node.kind() != ElementwiseOp.MUL) {
      return null;
    }
    List<Operand> factors = new ArrayList<>();
    for (Operand operand : node.operands()) {
      factors.addAll(factorsOf(operand, producers));
    }
    if (factors.size() != 3) {
      return null;
    }
    @Nullable Value x = null;
    @Nullable Value onePlusErf = null;
    boolean half = false;
    for (Operand factor : factors) {
      switch (factor) {
        case Operand.OfTensor constant -> half = isScalar(constant, 0.5);
        case Operand.OfValue(Value value) -> {
          Value argument = erfArgument(value, producers);
          if (argument != null && onePlusErf == null) {
            onePlusErf = argument;
          } else {
            x = value;
          }
        }
      }
    }
    if (!half || x == null || x != onePlusErf) {
      return null;
    }
    List<Operand> operands = List.of(new Operand.OfValue(x));
    return new Elementwise(node.output(), ElementwiseOp.GELU, operands, node.name());
  }

  /** The two operands of a multiplication, or the operand itself. */
  private static List<Operand> factorsOf(Operand operand, Map<Value, Node> producers) {
    return operand instanceof Operand.OfValue(Value value)
            && producers.get(value) instanceof Elementwise e
            && e.kind() == ElementwiseOp.MUL
        ? e.operands()
        : List.of(operand);
  }

  /** The x of 1 + erf(x / √2), or null. */
  private static @Nullable Value erfArgument(Value value, Map<Value, Node> producers) {
    Value erf = withScalar(value, ElementwiseOp.ADD, 1, producers);
    if (erf == null
        || !(producers.get(erf) instanceof Elementwise e)
        || e.kind() != ElementwiseOp.ERF) {
      return null;
    }
    Value scaled = e.inputs().getFirst();
    Value divided = withScalar(scaled, ElementwiseOp.DIV, Math.sqrt(2), producers);
    return divided != null
        ? divided
        : withScalar(scaled, ElementwiseOp.MUL, Math.sqrt(0.5), producers);
  }

  /**
   * The other operand, if a value is this operator with this scalar; a divisor must come second.
   */
  private static @Nullable Value withScalar(
      Value value, ElementwiseOp op, double scalar, Map<Value, Node> producers) {
    if (!(producers.get(value) instanceof Elementwise e) || e.kind() != op) {
      return null;
    }
    Operand first = e.operands().get(0);
    Operand second = e.operands().get(1);
    if (first instanceof Operand.OfValue(Value x)
        && second instanceof Operand.OfTensor t
        && isScalar(t, scalar)) {
      return x;
    }
    boolean commutes = op != ElementwiseOp.DIV;
    return commutes
            && second instanceof Operand.OfValue(Value x)
            && first instanceof Operand.OfTensor t
            && isScalar(t, scalar)
        ? x
        : null;
  }

  private static boolean isScalar(Operand.OfTensor constant, double expected) {
    return constant.isScalar()
        && Math.abs(constant.tensor().doubleAt(0) - expected)
            <= tolerance(constant.tensor().dtype()) * expected;
  }

  /** How far a rounded √2 may be from √2, so that it is still meant to be that number. */
  private static double tolerance(DType dtype) {
    return switch (dtype) {
      case F16 -> 0x1p-11;
      case BF16 -> 0x1p-8;
      default -> 1e-6;
    };
  }
}
