package dev.warpwright.model.arch;

import dev.warpwright.model.graph.ElementwiseOp;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The activations that a description may name, spelled as PyTorch's functions are, and the numbers
 * that go with them.
 */
enum Activation {
  RELU(ElementwiseOp.RELU),
  GELU(ElementwiseOp.GELU),
  GELU_TANH(ElementwiseOp.GELU_TANH),
  TANH(ElementwiseOp.TANH),
  SIGMOID(ElementwiseOp.SIGMOID),
  SIN(ElementwiseOp.SIN),
  COS(ElementwiseOp.COS),
  EXP(ElementwiseOp.EXP),
  LOG(ElementwiseOp.LOG),
  ERF(ElementwiseOp.ERF),
  SQRT(ElementwiseOp.SQRT),
  ABS(ElementwiseOp.ABS),
  NEG(ElementwiseOp.NEG),
  RECIPROCAL(ElementwiseOp.RECIPROCAL),
  MISH(ElementwiseOp.MISH),
  IDENTITY(ElementwiseOp.IDENTITY),
  /** x · sigmoid(x). */
  SILU,
  /** x · min(max(x + 3, 0), 6) / 6. */
  HARDSWISH,
  /** min(max(x + 3, 0), 6) / 6. */
  HARDSIGMOID,
  /** log(1 + e^(beta · x)) / beta, and x where beta · x is above the threshold. */
  SOFTPLUS(new Parameter("beta", 1.0), new Parameter("threshold", 20.0)),
  /** x, times the slope where it is negative. */
  LEAKY_RELU(new Parameter("negative_slope", 0.01)),
  /** x, times a slope of its own weight where it is negative. */
  PRELU,
  /** x if it is positive, otherwise alpha · (eˣ − 1). */
  ELU(new Parameter("alpha", 1.0)),
  /** ELU with the constants that keep mean and variance. */
  SELU,
  /** x if it is positive, otherwise alpha · (e^(x / alpha) − 1). */
  CELU(new Parameter("alpha", 1.0)),
  /** x, not below min and not above max, of which one may be missing. */
  CLIP(new Parameter("min", null), new Parameter("max", null)),
  /** Over all features. */
  SOFTMAX,
  /** Over all features. */
  LOG_SOFTMAX;

  /**
   * A number in a description.
   *
   * @param otherwise what it is where it is missing; null where it has no default
   */
  record Parameter(String name, @Nullable Double otherwise) {}

  private final @Nullable ElementwiseOp operator;
  private final List<Parameter> parameters;

  Activation(ElementwiseOp operator) {
    this.operator = operator;
    this.parameters = List.of();
  }

  Activation(Parameter... parameters) {
    this.operator = null;
    this.parameters = List.of(parameters);
  }

  /** The one operator that computes it, or null if it takes several or has numbers. */
  @Nullable ElementwiseOp operator() {
    return operator;
  }

  List<Parameter> parameters() {
    return parameters;
  }

  /** The name in a description. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The activation of a name, or null. */
  static @Nullable Activation named(String name) {
    for (Activation activation : values()) {
      if (activation.text().equals(name)) {
        return activation;
      }
    }
    return null;
  }

  /** All names, for messages. */
  static List<String> names() {
    return Arrays.stream(values()).map(Activation::text).toList();
  }
}
