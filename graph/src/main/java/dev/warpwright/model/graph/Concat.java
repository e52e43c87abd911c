package dev.warpwright.model.graph;

import java.util.List;

/**
 * The features of several values side by side.
 *
 * @param inputs at least one, in order; one value may occur twice
 */
public record Concat(Value output, List<Value> inputs, String name) implements Node {
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
