package dev.warpwright.model.arch;

import dev.warpwright.workload.Pointwise;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One step of a network; each works on the result of the one before it. */
sealed interface Step {

  /**
   * A linear layer.
   *
   * @param weight the name of a tensor [N, K]
   * @param bias the name of a tensor [N], or none
   */
  record LinearStep(String weight, @Nullable String bias) implements Step {}

  /** A layer normalisation; weight and bias are names of tensors [N], or none. */
  record NormStep(@Nullable String weight, @Nullable String bias, double epsilon) implements Step {}

  /** A function of each element. */
  record PointwiseStep(Pointwise function) implements Step {}

  /**
   * A function that takes more than the element.
   *
   * @param numbers by the names of its parameters, without those that are missing
   * @param weight the name of a tensor of slopes, [N] or [1]; for PReLU only
   */
  record FunctionStep(
      ParametricFunction function, Map<String, Double> numbers, @Nullable String weight)
      implements Step {
    public FunctionStep {
      numbers = Map.copyOf(numbers);
    }
  }

  /** Combines the result with a number. */
  record ScalarStep(Pointwise kind, double value) implements Step {}

  /** Combines the result with what was saved under a name. */
  record CombineStep(Pointwise kind, String with) implements Step {}

  /** Keeps the result under a name. */
  record SaveStep(String name) implements Step {}

  /** Goes on with what was saved under a name. */
  record LoadStep(String name) implements Step {}
}
