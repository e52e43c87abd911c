package dev.warpwright.model.graph;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An RMS norm that operators of a graph make: x / √(mean(x²) + ε) · scale.
 *
 * @param input x
 * @param scale a factor for each feature; null for none
 * @param epsilon ε, 0 or more
 */
public record RmsNorm(Value input, @Nullable ConstantTensor scale, double epsilon) {
  /**
   * {@return the norm that an operator ends, or null}
   *
   * @param node the operator
   * @param producers of values, by them
   */
  public static @Nullable RmsNorm of(Node node, Map<Value, Node> producers) {
    return node instanceof Elementwise e ? NormPattern.rms(e, producers) : null;
  }
}
