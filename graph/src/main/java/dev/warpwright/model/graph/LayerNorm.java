package dev.warpwright.model.graph;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Layer normalisation of each row: output[m, n] = (input[m, n] − μₘ) / √(σ²ₘ + epsilon) · scale[n]
 * + bias[n], where μₘ and σ²ₘ are the mean and the (population) variance of row m.
 *
 * @param output has the features of the input
 * @param input what is normalised
 * @param scale [N], or none for ones
 * @param bias [N], or none for zeros
 * @param epsilon added to the variance, so that a row of equal numbers has a result
 * @param name of the node in the original file, for messages
 */
public record LayerNorm(
    Value output,
    Value input,
    @Nullable ConstantTensor scale,
    @Nullable ConstantTensor bias,
    double epsilon,
    String name)
    implements Node {
  /** Checks that the features fit. */
  public LayerNorm {
    if (input.features() != output.features()) {
      throw new IllegalArgumentException("input " + input + " does not fit " + output);
    }
    List<Long> shape = List.of((long) output.features());
    if ((scale != null && !scale.shape().equals(shape))
        || (bias != null && !bias.shape().equals(shape))) {
      throw new IllegalArgumentException("scale or bias does not fit " + output);
    }
    if (!(epsilon >= 0)) {
      throw new IllegalArgumentException("epsilon must not be negative: " + epsilon);
    }
  }

  @Override
  public LayerNorm to(Value newOutput) {
    return new LayerNorm(newOutput, input, scale, bias, epsilon, name);
  }

  @Override
  public String op() {
    return "layer_norm";
  }

  @Override
  public List<Value> inputs() {
    return List.of(input);
  }

  @Override
  public List<ConstantTensor> constants() {
    List<ConstantTensor> constants = new ArrayList<>();
    if (scale != null) {
      constants.add(scale);
    }
    if (bias != null) {
      constants.add(bias);
    }
    return List.copyOf(constants);
  }
}
