package dev.warpwright.model.graph;

import dev.warpwright.workload.Activation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites a graph into fewer nodes that mean the same up to rounding:
 *
 * <ul>
 *   <li>a GELU that is spelled out becomes {@link Activation#GELU} or {@link Activation#GELU_TANH},
 *       x · sigmoid(x) {@link Activation#SILU}, a layer normalisation {@link LayerNorm};
 *   <li>factors and summands for each feature go into the linear layer or the layer normalisation
 *       beside them, as far as {@link LinearFolding} says;
 *   <li>choices of features and concatenations go into linear layers, as far as {@link
 *       FeatureFolding} says;
 *   <li>copies, and nodes that no output needs, are dropped.
 * </ul>
 *
 * Values keep their identity where they stay; a fused node has the output of the last node that it
 * replaces.
 */
public final class GraphSimplifier {
  /** Rewrites make room for others; more rounds than a chain of them is long do nothing. */
  private static final int MAX_ROUNDS = 16;

  private final Graph graph;
  private final Map<Value, Node> producers = new HashMap<>();
  private final Map<Value, Integer> uses = new HashMap<>();
  private final Map<Value, List<Node>> readers = new HashMap<>();

  private GraphSimplifier(Graph graph) {
    this.graph = graph;
  }

  /**
   * Simplifies a graph.
   *
   * @param graph left as it is
   * @return a graph of fewer nodes; the same instance if there is nothing to do
   */
  public static Graph simplify(Graph graph) {
    Graph current = graph;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      Graph next = new GraphSimplifier(current).run();
      if (next == current) {
        break;
      }
      current = next;
    }
    return current;
  }

  private Graph run() {
    graph.outputs().forEach(output -> uses.merge(output, 1, Integer::sum));
    for (Node node : graph.nodes()) {
      for (Value input : node.inputs()) {
        uses.merge(input, 1, Integer::sum);
        readers.computeIfAbsent(input, v -> new ArrayList<>()).add(node);
      }
    }
    List<Node> rewritten = new ArrayList<>();
    for (Node node : graph.nodes()) {
      for (Node simpler : rewrite(node)) {
        producers.put(simpler.output(), simpler);
        rewritten.add(simpler);
      }
    }
    Graph all = new Graph(graph.name(), graph.inputs(), graph.outputs(), rewritten);
    List<Node> live = all.needed();
    return live.equals(graph.nodes())
        ? graph
        : new Graph(graph.name(), graph.inputs(), graph.outputs(), live);
  }

  private List<Node> rewrite(Node node) {
    List<Node> moved = new FeatureFolding(producers, readers, uses).fold(node);
    if (moved != null) {
      return moved;
    }
    LinearFolding folding = new LinearFolding(producers, uses);
    Node simpler =
        switch (node) {
          case Elementwise elementwise -> rewrite(elementwise, folding);
          case Linear linear -> folding.before(linear);
          case LayerNorm norm -> null;
          case RowReduce reduce -> null;
          case Concat concat -> null;
          case Columns columns -> null;
          case Attend attend -> null;
        };
    return List.of(simpler == null ? node : simpler);
  }

  private @Nullable Node rewrite(Elementwise node, LinearFolding folding) {
    Node found = GeluPattern.match(node, producers);
    found = found == null ? silu(node) : found;
    found = found == null ? NormPattern.match(node, producers) : found;
    found = found == null ? folding.behind(node) : found;
    return found == null ? intoNorm(node) : found;
  }

  /** x · sigmoid(x). */
  private @Nullable Node silu(Elementwise node) {
    if (node.kind() != ElementwiseOp.MUL || node.inputs().size() != 2) {
      return null;
    }
    for (int i = 0; i < 2; i++) {
      Value x = node.inputs().get(i);
      if (producers.get(node.inputs().get(1 - i)) instanceof Elementwise gate
          && gate.kind() == Activation.SIGMOID
          && gate.inputs().getFirst() == x) {
        return new Elementwise(
            node.output(), Activation.SILU, List.of(node.operands().get(i)), node.name());
      }
    }
    return null;
  }

  /** A vector multiplied with, or added to, a normalisation that nothing else reads. */
  private @Nullable Node intoNorm(Elementwise node) {
    boolean add = node.kind() == ElementwiseOp.ADD;
    if (!add && node.kind() != ElementwiseOp.MUL) {
      return null;
    }
    for (int i = 0; i < 2; i++) {
      if (node.operands().get(i) instanceof Operand.OfValue(Value value)
          && node.operands().get(1 - i) instanceof Operand.OfTensor vector
          && vector.tensor().rank() == 1
          && vector.tensor().count() == value.features()
          && uses.getOrDefault(value, 0) == 1
          && producers.get(value) instanceof LayerNorm norm
          && norm.bias() == null
          && (add || norm.scale() == null)) {
        return new LayerNorm(
            node.output(),
            norm.input(),
            add ? norm.scale() : vector.tensor(),
            add ? vector.tensor() : null,
            norm.epsilon(),
            norm.name());
      }
    }
    return null;
  }
}
