package dev.warpwright.model.onnx;

import dev.warpwright.model.build.Term;
import java.util.List;
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

  /** Says what the outputs of a node stand for, adding nodes to the graph as needed. */
  @FunctionalInterface
  interface Rule {
    /** As many terms as the rule supports outputs. */
    List<Term> lower(NodeContext node);
  }

  /** Says what the first output of a node stands for. */
  @FunctionalInterface
  interface SingleRule {
    Term lower(NodeContext node);
  }

  static Operator of(int minInputs, int maxInputs, Set<String> attributes, SingleRule rule) {
    return new Operator(minInputs, maxInputs, attributes, node -> List.of(rule.lower(node)));
  }
}
