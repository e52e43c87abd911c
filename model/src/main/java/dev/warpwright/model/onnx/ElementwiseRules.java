package dev.warpwright.model.onnx;

import dev.warpwright.ir.DType;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Import of operators that work element by element. */
final class ElementwiseRules {
  private ElementwiseRules() {}

  static Term gelu(NodeContext node) {
    String approximate = node.stringAttribute("approximate", "none");
    return switch (approximate) {
      case "none" -> unary(node, ElementwiseOp.GELU);
      case "tanh" -> unary(node, ElementwiseOp.GELU_TANH);
      default -> throw node.error("approximate must be 'none' or 'tanh'");
    };
  }

  static Term unary(NodeContext node, ElementwiseOp op) {
    return switch (node.input(0)) {
      case Term.Constant(Tensor a) -> fold(node, op, a, a);
      case Term.Computed(Value a) ->
          node.emit(
              new Elementwise(
                  node.result(a, a.features()), op, List.of(new Operand.OfValue(a)), node.name()));
      case Term.Statistic statistic -> LayerNormRules.unary(node, op, statistic);
    };
  }

  static Term binary(NodeContext node, ElementwiseOp op) {
    return combine(node, op, node.input(0), node.input(1), "");
  }

  /** An operator of any number of inputs as a chain of binary ones. */
  static Term variadic(NodeContext node, ElementwiseOp op) {
    Term result = node.input(0);
    int last = node.inputs().size() - 1;
    for (int i = 1; i <= last; i++) {
      result = combine(node, op, result, node.input(i), i == last ? "" : "step" + i);
    }
    return result;
  }

  /**
   * Applies a binary operator.
   *
   * @param step names the result if it is not the node's last; otherwise empty
   */
  static Term combine(NodeContext node, ElementwiseOp op, Term a, Term b, String step) {
    if (a instanceof Term.Statistic || b instanceof Term.Statistic) {
      return LayerNormRules.binary(node, op, a, b);
    }
    if (a instanceof Term.Constant(Tensor left) && b instanceof Term.Constant(Tensor right)) {
      return fold(node, op, left, right);
    }
    Value like = valueOf(a) instanceof Value value ? value : valueOf(b);
    if (like == null) {
      throw node.statisticError();
    }
    if (op == ElementwiseOp.POW) {
      if (!(b instanceof Term.Constant(Tensor exponent))) {
        throw node.error("the exponent must be a constant");
      }
      b = new Term.Constant(exponentOf(node, exponent, like.dtype()));
    }
    Value output =
        step.isEmpty()
            ? node.result(like, like.features())
            : node.intermediate(like, like.features(), step);
    List<Operand> operands = List.of(operand(node, a, like), operand(node, b, like));
    return node.emit(new Elementwise(output, op, operands, node.name()));
  }

  private static @Nullable Value valueOf(Term term) {
    return term instanceof Term.Computed(Value value) ? value : null;
  }

  /** ONNX lets the exponent have a type of its own. */
  private static Tensor exponentOf(NodeContext node, Tensor exponent, DType dtype) {
    if (exponent.dtype() == dtype) {
      return exponent;
    }
    node.lowering().reserve(exponent.count() * 8);
    return Tensor.ofDoubles(exponent.name(), dtype, exponent.shape(), exponent.toDoubles());
  }

  private static Operand operand(NodeContext node, Term term, Value like) {
    return switch (term) {
      case Term.Computed(Value value) -> {
        if (value.dtype() != like.dtype() || value.features() != like.features()) {
          throw node.error(
              "operands "
                  + NodeContext.type(like)
                  + " and "
                  + NodeContext.type(value)
                  + " differ; broadcasting between computed values is not supported");
        }
        yield new Operand.OfValue(value);
      }
      case Term.Constant(Tensor tensor) -> new Operand.OfTensor(broadcast(node, tensor, like));
      case Term.Statistic statistic -> throw node.statisticError();
    };
  }

  /**
   * A constant that is the same for each row, as a scalar or as a vector of one element a feature.
   */
  static Tensor broadcast(NodeContext node, Tensor tensor, Value like) {
    if (tensor.dtype() != like.dtype()) {
      throw node.error(
          "constant "
              + NodeContext.type(tensor)
              + " and operand "
              + NodeContext.type(like)
              + " have different types");
    }
    boolean fitsRank = tensor.rank() <= like.leading().size() + 1;
    if (fitsRank && tensor.count() == 1) {
      return ConstantFolder.reshape(tensor, List.of());
    }
    long features = like.features();
    if (fitsRank && tensor.count() == features && tensor.shape().getLast() == features) {
      return ConstantFolder.reshape(tensor, List.of(features));
    }
    throw node.error(
        "constant "
            + NodeContext.type(tensor)
            + " is neither a scalar nor one element per feature of "
            + NodeContext.type(like));
  }

  private static Term fold(NodeContext node, ElementwiseOp op, Tensor a, Tensor b) {
    boolean sameShape = a.shape().equals(b.shape()) || a.rank() == 0 || b.rank() == 0;
    if (!sameShape || a.dtype() != b.dtype() || !a.dtype().isFloat()) {
      throw node.error(
          "constants "
              + NodeContext.type(a)
              + " and "
              + NodeContext.type(b)
              + " cannot be combined; export with constant folding");
    }
    node.lowering().reserve(16 * Math.max(a.count(), b.count()));
    return new Term.Constant(ConstantFolder.apply(node.node().outputs().getFirst(), op, a, b));
  }
}
