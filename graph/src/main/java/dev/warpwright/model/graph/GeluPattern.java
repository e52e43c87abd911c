package dev.warpwright.model.graph;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recognises x · ½ · (1 + erf(x / √2)) and x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), with
 * factors and summands in any order, as exporters write GELU where the operator set has none.
 */
final class GeluPattern {
  /** Products nested deeper are no part of a GELU. */
  private static final int MAX_DEPTH = 4;

  /** The operator and its operand, if a value is 1 + erf(…) or 1 + tanh(…) of that operand. */
  private record Gate(Pointwise gelu, Value x) {}

  private final Map<Value, Node> producers;

  private GeluPattern(Map<Value, Node> producers) {
    this.producers = producers;
  }

  /** The GELU that a multiplication ends, or null. */
  static @Nullable Elementwise match(Elementwise node, Map<Value, Node> producers) {
    return node.kind() == ElementwiseOp.MUL ? new GeluPattern(producers).gelu(node) : null;
  }

  private @Nullable Elementwise gelu(Elementwise product) {
    for (Operand operand : product.operands()) {
      if (!(operand instanceof Operand.OfValue(Value value))) {
        continue;
      }
      Elementwise found = gelu(product, value);
      if (found == null && product(value) instanceof Elementwise nested) {
        for (Value inner : nested.inputs()) {
          found = found == null ? gelu(product, inner) : found;
        }
      }
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** The GELU, if one factor of a product is this gate and the others are its x and a half. */
  private @Nullable Elementwise gelu(Elementwise product, Value gateValue) {
    Gate gate = gate(gateValue);
    if (gate == null) {
      return null;
    }
    List<Operand> factors = new ArrayList<>();
    product.operands().forEach(o -> addFactors(o, Set.of(gate.x(), gateValue), MAX_DEPTH, factors));
    int half = 0;
    int x = 0;
    int gates = 0;
    for (Operand factor : factors) {
      switch (factor) {
        case Operand.OfTensor constant -> half += isScalar(constant, 0.5) ? 1 : 0;
        case Operand.OfValue(Value value) -> {
          gates += value == gateValue ? 1 : 0;
          x += value == gate.x() ? 1 : 0;
        }
      }
    }
    if (factors.size() != 3 || half != 1 || x != 1 || gates != 1) {
      return null;
    }
    List<Operand> operands = List.of(new Operand.OfValue(gate.x()));
    return new Elementwise(product.output(), gate.gelu(), operands, product.name());
  }

  /** The factors of a product of products; a value to stop at is a factor itself. */
  private void addFactors(Operand operand, Set<Value> stopAt, int depth, List<Operand> factors) {
    if (depth > 0
        && operand instanceof Operand.OfValue(Value value)
        && !stopAt.contains(value)
        && product(value) instanceof Elementwise nested) {
      nested.operands().forEach(o -> addFactors(o, stopAt, depth - 1, factors));
    } else {
      factors.add(operand);
    }
  }

  private @Nullable Gate gate(Value value) {
    Value bell = withScalar(value, ElementwiseOp.ADD, 1);
    if (bell == null || !(producers.get(bell) instanceof Elementwise function)) {
      return null;
    }
    Value argument = function.inputs().getFirst();
    return switch (function.kind()) {
      case Activation.ERF -> {
        Value divided = withScalar(argument, ElementwiseOp.DIV, Math.sqrt(2));
        Value x =
            divided != null ? divided : withScalar(argument, ElementwiseOp.MUL, Math.sqrt(0.5));
        yield x == null ? null : new Gate(Activation.GELU, x);
      }
      case Activation.TANH -> {
        Value sum = withScalar(argument, ElementwiseOp.MUL, Math.sqrt(2 / Math.PI));
        Value x = sum == null ? null : withItsCube(sum);
        yield x == null ? null : new Gate(Activation.GELU_TANH, x);
      }
      default -> null;
    };
  }

  /** The x of x + 0.044715 · x³, or null. */
  private @Nullable Value withItsCube(Value sum) {
    if (!(producers.get(sum) instanceof Elementwise e)
        || e.kind() != ElementwiseOp.ADD
        || e.inputs().size() != 2) {
      return null;
    }
    Value a = e.inputs().get(0);
    Value b = e.inputs().get(1);
    return isCube(b, a) ? a : isCube(a, b) ? b : null;
  }

  private boolean isCube(Value cube, Value x) {
    List<Operand> factors = new ArrayList<>();
    addFactors(new Operand.OfValue(cube), Set.of(x), MAX_DEPTH, factors);
    double power = 0;
    int coefficients = 0;
    for (Operand factor : factors) {
      switch (factor) {
        case Operand.OfTensor constant -> {
          if (!isScalar(constant, 0.044715)) {
            return false;
          }
          coefficients++;
        }
        case Operand.OfValue(Value value) -> {
          if (value == x) {
            power += 1;
          } else if (producers.get(value) instanceof Elementwise e
              && e.kind() == ElementwiseOp.POW
              && e.inputs().equals(List.of(x))
              && e.constants().getFirst().rank() == 0) {
            power += e.constants().getFirst().doubleAt(0);
          } else {
            return false;
          }
        }
      }
    }
    return coefficients == 1 && power == 3;
  }

  private @Nullable Elementwise product(Value value) {
    return producers.get(value) instanceof Elementwise e && e.kind() == ElementwiseOp.MUL
        ? e
        : null;
  }

  /**
   * The other operand, if a value is this operator with this scalar; a divisor must come second.
   */
  private @Nullable Value withScalar(Value value, Pointwise op, double scalar) {
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
    return op != ElementwiseOp.DIV
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
