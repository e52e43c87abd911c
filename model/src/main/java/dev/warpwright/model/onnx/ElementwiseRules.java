package dev.warpwright.model.onnx;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.build.Term;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.workload.Activation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Import of operators that work element by element and have attributes. */
final class ElementwiseRules {
  /** The defaults of ONNX, which are those of PyTorch in single precision. */
  private static final float SELU_ALPHA = 1.6732632f;

  private static final float SELU_GAMMA = 1.050701f;

  private ElementwiseRules() {}

  static Term gelu(NodeContext node) {
    String approximate = node.stringAttribute("approximate", "none");
    return switch (approximate) {
      case "none" -> node.arithmetic().unary(Activation.GELU, node.input(0));
      case "tanh" -> node.arithmetic().unary(Activation.GELU_TANH, node.input(0));
      default -> throw node.error("approximate must be 'none' or 'tanh'");
    };
  }

  static Term biasGelu(NodeContext node) {
    return node.arithmetic().unary(Activation.GELU, biased(node));
  }

  static Term fastGelu(NodeContext node) {
    return node.arithmetic().unary(Activation.GELU_TANH, biased(node));
  }

  private static Term biased(NodeContext node) {
    return node.has(1)
        ? node.arithmetic().binary(ElementwiseOp.ADD, node.input(0), node.input(1))
        : node.input(0);
  }

  static Term quickGelu(NodeContext node) {
    return node.activations().silu(node.input(0), node.floatAttribute("alpha", 1.702f));
  }

  static Term mean(NodeContext node) {
    Term sum = node.arithmetic().chain(ElementwiseOp.ADD, node.all());
    return node.arithmetic().binary(ElementwiseOp.DIV, sum, node.inputs().size());
  }

  static Term clip(NodeContext node) {
    return node.activations().clip(node.input(0), bound(node, 1, "min"), bound(node, 2, "max"));
  }

  /** An input since version 11, before that an attribute. */
  private static @Nullable Term bound(NodeContext node, int index, String attribute) {
    if (node.has(index) || !node.node().attributes().containsKey(attribute)) {
      return node.optional(index);
    }
    float value = node.floatAttribute(attribute, 0);
    return new Term.Constant(ConstantTensor.ofDoubles(attribute, DType.F32, List.of(), value));
  }

  static Term leakyRelu(NodeContext node) {
    float slope = node.floatAttribute("alpha", 0.01f);
    return node.arithmetic().binary(ElementwiseOp.LEAKY_RELU, node.input(0), slope);
  }

  static Term selu(NodeContext node) {
    float alpha = node.floatAttribute("alpha", SELU_ALPHA);
    return node.activations().elu(node.input(0), alpha, node.floatAttribute("gamma", SELU_GAMMA));
  }

  static Term hardSigmoid(NodeContext node) {
    float alpha = node.floatAttribute("alpha", 0.2f);
    return node.activations().hardSigmoid(node.input(0), alpha, node.floatAttribute("beta", 0.5f));
  }

  static Term thresholdedRelu(NodeContext node) {
    return node.activations().threshold(node.input(0), node.floatAttribute("alpha", 1), 0);
  }
}
