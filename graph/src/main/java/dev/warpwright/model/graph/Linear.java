package dev.warpwright.model.graph;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A linear layer: output[m, n] = Σₖ input[m, k] · weight[n, k] + bias[n].
 *
 * @param output has N features
 * @param input has K features
 * @param weight [N, K], K contiguous
 * @param bias [N], or none
 * @param name of the node in the original file, for messages
 */
public record Linear(
    Value output, Value input, ConstantTensor weight, @Nullable ConstantTensor bias, String name)
    implements Node {
  /** Checks that the shapes fit. */
  public Linear {
    if (!weight.shape().equals(List.of((long) output.features(), (long) input.features()))) {
      throw new IllegalArgumentException(
          "weight " + weight + " does not map " + input + " to " + output);
    }
    if (bias != null && !bias.shape().equals(List.of((long) output.features()))) {
      throw new IllegalArgumentException("bias " + bias + " does not fit " + output);
    }
  }

  @Override
  public Linear to(Value newOutput) {
    return new Linear(newOutput, input, weight, bias, name);
  }

  @Override
  public String op() {
    return "linear";
  }

  @Override
  public List<Value> inputs() {
    return List.of(input);
  }

  @Override
  public List<ConstantTensor> constants() {
    return bias == null ? List.of(weight) : List.of(weight, bias);
  }
}
