package dev.warpwright.model.onnx;

import java.util.Set;

/**
 * How an ONNX operator is imported.
 *
 * @param minInputs the least number of inputs
 * @param maxInputs the greatest number of inputs
 * @param attributes the attributes that the rule understands; any other is refused, since it would
 *     change the meaning
 */
record Operator(int minInputs, int maxInputs, Set<String> attributes, Rule rule) {

  /** Says what the first output of a node stands for, adding nodes to the graph as needed. */
  @FunctionalInterface
  interface Rule {
    Term lower(NodeContext node);
  }
}
