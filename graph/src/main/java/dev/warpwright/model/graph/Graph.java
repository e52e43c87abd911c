package dev.warpwright.model.graph;

import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A network: nodes in an order in which each can be computed.
 *
 * @param name the name in the original file
 * @param inputs at least one, all different
 * @param outputs at least one, all different, each computed by a node
 * @param nodes in topological order; each value is computed once, all have the same leading
 *     dimensions
 */
public record Graph(String name, List<Value> inputs, List<Value> outputs, List<Node> nodes) {

  /**
   * Copies the lists and checks the rules above.
   *
   * @throws IllegalArgumentException if the rules above are broken
   */
  public Graph {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    nodes = List.copyOf(nodes);
    if (inputs.isEmpty() || outputs.isEmpty()) {
      throw new IllegalArgumentException("a graph needs an input and an output");
    }
    Set<Value> known = new HashSet<>();
    for (Value input : inputs) {
      define(known, input, inputs.getFirst());
    }
    Set<Value> computed = new HashSet<>();
    for (Node node : nodes) {
      if (!known.containsAll(node.inputs())) {
        throw new IllegalArgumentException(
            "node " + node.name() + " reads a value that is not computed before it");
      }
      define(known, node.output(), inputs.getFirst());
      computed.add(node.output());
    }
    if (!computed.containsAll(outputs) || new HashSet<>(outputs).size() != outputs.size()) {
      throw new IllegalArgumentException("an output is listed twice or computed by no node");
    }
  }

  /** {@return the nodes that an output needs, in order} */
  public List<Node> needed() {
    Set<Value> wanted = new HashSet<>(outputs);
    List<Node> needed = new ArrayList<>();
    for (Node node : nodes.reversed()) {
      if (wanted.contains(node.output())) {
        wanted.addAll(node.inputs());
        needed.add(node);
      }
    }
    return List.copyOf(needed.reversed());
  }

  private static void define(Set<Value> known, Value value, Value first) {
    if (!known.add(value)) {
      throw new IllegalArgumentException("value " + value + " is defined twice");
    }
    if (!value.leading().equals(first.leading())) {
      throw new IllegalArgumentException(value + " has other rows than " + first);
    }
  }

  /** {@return the precision in which the weights are stored} */
  public Precision precision() {
    for (Node node : nodes) {
      for (ConstantTensor constant : node.constants()) {
        if (constant.rank() == 2) {
          return switch (constant.dtype()) {
            case F16 -> Precision.F16;
            case BF16 -> Precision.BF16;
            case F32, F64, BOOL, I8, U8, I32, U32, I64, U64, F8E4M3, F8E5M2, MBARRIER, HANDLE ->
                Precision.F32;
          };
        }
      }
    }
    return Precision.F32;
  }
}
