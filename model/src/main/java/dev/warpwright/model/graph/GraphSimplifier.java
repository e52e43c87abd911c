package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites a graph into fewer nodes that mean the same up to rounding:
 *
 * <ul>
 *   <li>a GELU that is spelled out becomes {@link ElementwiseOp#GELU} or {@link
 *       ElementwiseOp#GELU_TANH};
 *   <li>a vector added to a linear layer becomes its bias;
 *   <li>a vector multiplied with or added to a layer normalisation becomes its scale or bias;
 *   <li>nodes that no output needs are dropped.
 * </ul>
 *
 * Values keep their identity where they stay; a fused node has the output of the last node that it
 * replaces.
 */
public final class GraphSimplifier {
  private final Graph graph;
  private final Map<Value, Node> producers = new HashMap<>();
  private final Map<Value, Integer> uses = new HashMap<>();

  private GraphSimplifier(Graph graph) {
    this.graph = graph;
  }

  /** Simplifies a graph; returns the same instance if there is nothing to do. */
  public static Graph simplify(Graph graph) {
    return new GraphSimplifier(graph).run();
  }

  private Graph run() {
    graph.outputs().forEach(output -> uses.merge(output, 1, Integer::sum));
    graph.nodes().forEach(n -> n.inputs().forEach(value -> uses.merge(value, 1, Integer::sum)));
    List<Node> rewritten = new ArrayList<>();
    for (Node node : graph.nodes()) {
      Node simpler = node instanceof Elementwise elementwise ? rewrite(elementwise) : node;
      producers.put(simpler.output(), simpler);
      rewritten.add(simpler);
    }
    Graph all = new Graph(graph.name(), graph.inputs(), graph.outputs(), rewritten);
    List<Node> live = all.needed();
    return live.equals(graph.nodes())
        ? graph
        : new Graph(graph.name(), graph.inputs(), graph.outputs(), live);
  }

  private Node rewrite(Elementwise node) {
    Node gelu = GeluPattern.match(node, producers);
    if (gelu != null) {
      return gelu;
    }
    Node folded =
        switch (node.kind()) {
          case ADD -> foldVector(node, true);
          case MUL -> foldVector(node, false);
          default -> null;
        };
    return folded == null ? node : folded;
  }

  /** A vector added to, or multiplied with, a value that nothing else reads. */
  private @Nullable Node foldVector(Elementwise node, boolean add) {
    for (int i = 0; i < 2; i++) {
      if (node.operands().get(i) instanceof Operand.OfValue(Value value)
          && node.operands().get(1 - i) instanceof Operand.OfTensor vector
          && !vector.isScalar()
          && uses.getOrDefault(value, 0) == 1
          && producers.get(value) instanceof Node producer) {
        return foldInto(producer, node.output(), vector.tensor(), add);
      }
    }
    return null;
  }

  private static @Nullable Node foldInto(Node producer, Value output, Tensor vector, boolean add) {
    return switch (producer) {
      case Linear linear ->
          add && linear.bias() == null
              ? new Linear(output, linear.input(), linear.weight(), vector, linear.name())
              : null;
      case LayerNorm norm -> {
        if (norm.bias() != null || (!add && norm.scale() != null)) {
          yield null;
        }
        yield new LayerNorm(
            output,
            norm.input(),
            add ? norm.scale() : vector,
            add ? vector : null,
            norm.epsilon(),
            norm.name());
      }
      case Elementwise elementwise -> null;
      case RowReduce reduce -> null;
      case Concat concat -> null;
      case Columns columns -> null;
    };
  }
}
