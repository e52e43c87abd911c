package dev.warpwright.model.pt2;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Dim;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An exported program as far as it matters here, as the file has it.
 *
 * @param inputs in order, constants too
 * @param outputs names of tensors
 * @param nodes in the order of the file
 * @param tensors what the file says of each tensor, by name
 */
record Program(
    List<Input> inputs, List<String> outputs, List<Node> nodes, Map<String, Meta> tensors) {
  Program {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    nodes = List.copyOf(nodes);
    tensors = Map.copyOf(tensors);
  }

  /**
   * An input of the graph.
   *
   * @param constant what a parameter, buffer or constant is called in the archive; null for an
   *     input of the model
   */
  record Input(String name, @Nullable String constant) {}

  /**
   * What is said of a tensor.
   *
   * @param dtype null if we have no such type
   */
  record Meta(@Nullable DType dtype, List<Dim> shape) {
    Meta {
      shape = List.copyOf(shape);
    }
  }

  /**
   * A call of an operator.
   *
   * @param label how messages call this node, for example {@code node 'linear_1'}
   * @param target the operator as the file has it, for example {@code aten.linear.default}
   * @param outputs names of tensors; empty for one that is left out
   * @param symbolic whether it computes sizes, not tensors
   */
  record Node(
      String name,
      String label,
      String target,
      Map<String, Argument> arguments,
      List<String> outputs,
      boolean symbolic) {
    Node {
      arguments = Map.copyOf(arguments);
      outputs = List.copyOf(outputs);
    }
  }
}
