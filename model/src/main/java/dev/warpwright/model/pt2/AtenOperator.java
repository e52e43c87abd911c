package dev.warpwright.model.pt2;

import java.util.Set;

/**
 * How an ATen operator is imported.
 *
 * @param arguments those that the rule understands; any other that is given is refused, since it
 *     would change the meaning
 */
record AtenOperator(Set<String> arguments, Rule rule) {

  /** Says a call in ONNX nodes. */
  @FunctionalInterface
  interface Rule {
    void translate(AtenCall call);
  }
}
