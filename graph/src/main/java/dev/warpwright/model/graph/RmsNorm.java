package dev.warpwright.model.graph;

import java.util.HashMap;
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
   * {@return the norms of a graph, by their results}
   *
   * @param graph simplified or not
   */
  public static Map<Value, RmsNorm> of(Graph graph) {
    Map<Value, Node> producers = new HashMap<>();
    graph.needed().forEach(node -> producers.put(node.output(), node));
    Map<Value, RmsNorm> norms = new HashMap<>();
    for (Node node : graph.needed()) {
      RmsNorm norm = node instanceof Elementwise e ? NormPattern.rms(e, producers) : null;
      if (norm != null) {
        norms.put(node.output(), norm);
      }
    }
    return norms;
  }
}
