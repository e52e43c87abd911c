package dev.warpwright.model.arch;

import dev.warpwright.model.graph.ElementwiseOp;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The activations that a description may name, spelled as PyTorch's functions are. */
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
  IDENTITY(ElementwiseOp.IDENTITY),
  /** x · sigmoid(x). */
  SILU(null),
  /** x · min(max(x + 3, 0), 6) / 6. */
  HARDSWISH(null),
  /** min(max(x + 3, 0), 6) / 6. */
  HARDSIGMOID(null),
  /** log(1 + eˣ). */
  SOFTPLUS(null);

  private final @Nullable ElementwiseOp operator;

  Activation(@Nullable ElementwiseOp operator) {
    this.operator = operator;
  }

  /** The one operator that computes it, or null if it takes several. */
  @Nullable ElementwiseOp operator() {
    return operator;
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
