package dev.warpwright.model.graph;

import java.util.List;

/**
 * The features of several values side by side.
 *
 * @param output has the features of all inputs together
 * @param inputs at least one, in order; one value may occur twice
 * @param name of the node in the original file, for messages
 */
public record Concat(Value output, List<Value> inputs, String name) implements Node {
  /** Checks that the features add up. */
  public Concat {
    inputs = List.copyOf(inputs);
    long total = inputs.stream().mapToLong(Value::features).sum();
    if (inputs.isEmpty() || total != output.features()) {
      throw new IllegalArgumentException(inputs + " do not fill " + output);
    }
  }

  @Override
  public Concat to(Value newOutput) {
    return new Concat(newOutput, inputs, name);
  }

  @Override
  public String op() {
    return "concat";
  }

  @Override
  public List<ConstantTensor> constants() {
    return List.of();
  }
}
