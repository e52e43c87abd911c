package dev.warpwright.model.onnx;

import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import java.util.List;

/** Import of matrix products with a constant on the right. */
final class LinearRules {
  private LinearRules() {}

  static Term matMul(NodeContext node) {
    Value input = node.value(0);
    Tensor weight = weight(node, input, node.constant(1), false);
    return node.emit(
        new Linear(node.result(input, outputs(weight)), input, weight, null, node.name()));
  }

  /** Rows of any rank times a matrix [outputs, inputs], and a bias if there is one. */
  static Term linear(NodeContext node) {
    Value input = node.value(0);
    Tensor weight = weight(node, input, node.constant(1), true);
    Value output = node.result(input, outputs(weight));
    Tensor bias = node.has(2) ? featureVector(node, node.constant(2), output) : null;
    return node.emit(new Linear(output, input, weight, bias, node.name()));
  }

  /** alpha · A · B + beta · C. */
  static Term gemm(NodeContext node) {
    if (node.intAttribute("transA", 0) != 0) {
      throw node.error("transA=1 is not supported; transpose in the model is not row-wise");
    }
    Value input = node.value(0);
    if (input.leading().size() != 1) {
      throw node.error("its input " + NodeContext.type(input) + " must have two dimensions");
    }
    Tensor weight = weight(node, input, node.constant(1), node.intAttribute("transB", 0) != 0);
    float alpha = node.floatAttribute("alpha", 1);
    float beta = node.floatAttribute("beta", 1);
    int features = outputs(weight);
    boolean addend = node.has(2) && beta != 0;
    if (alpha == 1 && (!addend || (beta == 1 && node.input(2) instanceof Term.Constant))) {
      Tensor bias =
          addend ? featureVector(node, node.constant(2), node.result(input, features)) : null;
      return node.emit(new Linear(node.result(input, features), input, weight, bias, node.name()));
    }
    Value product = node.intermediate(input, features, "product");
    Term result = node.emit(new Linear(product, input, weight, null, node.name()));
    result = scale(node, result, alpha, input, addend ? "scaled" : "");
    if (!addend) {
      return result;
    }
    return ElementwiseRules.combine(
        node, ElementwiseOp.ADD, result, scale(node, node.input(2), beta, input, "addend"), "");
  }

  private static Term scale(NodeContext node, Term term, float factor, Value like, String step) {
    if (factor == 1) {
      return term;
    }
    Tensor scalar = Tensor.ofDoubles("", like.dtype(), List.of(), factor);
    return ElementwiseRules.combine(node, ElementwiseOp.MUL, term, new Term.Constant(scalar), step);
  }

  /** The weight as [N, K]. */
  private static Tensor weight(NodeContext node, Value input, Tensor stored, boolean outputsFirst) {
    if (stored.rank() != 2 || stored.count() == 0) {
      throw node.error(
          "weight " + NodeContext.type(stored) + " must be a matrix that is not empty");
    }
    if (stored.dtype() != input.dtype()) {
      throw node.error(
          "weight "
              + NodeContext.type(stored)
              + " and input "
              + NodeContext.type(input)
              + " have different types");
    }
    long inputs = stored.shape().get(outputsFirst ? 1 : 0);
    long outputs = stored.shape().get(outputsFirst ? 0 : 1);
    if (inputs != input.features() || outputs > Integer.MAX_VALUE) {
      throw node.error(
          "weight "
              + NodeContext.type(stored)
              + " does not fit the input "
              + NodeContext.type(input));
    }
    return outputsFirst ? stored : node.lowering().transpose(stored);
  }

  private static int outputs(Tensor weight) {
    return Math.toIntExact(weight.shape().getFirst());
  }

  /** A constant as a vector [N], repeated if it is a scalar. */
  static Tensor featureVector(NodeContext node, Tensor tensor, Value like) {
    Tensor fitted = ElementwiseRules.broadcast(node, tensor, like);
    if (fitted.rank() == 1) {
      return fitted;
    }
    node.lowering().reserve(16L * like.features());
    return ConstantFolder.repeat(fitted, like.features());
  }
}
