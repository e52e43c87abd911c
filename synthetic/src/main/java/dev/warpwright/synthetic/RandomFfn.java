package dev.warpwright.synthetic;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A feed-forward block of a transformer with random weights: {@code down(act(gate(x)) · up(x))}, or
 * without a gate {@code down(act(up(x)))}. Weights are scaled by their inputs, so that everything
 * that flows through it is of the size of 1.
 *
 * @param model features of inputs and outputs
 * @param hidden features between the layers
 * @param gated whether there is a gate
 * @param activation behind the gate, or between the layers
 * @param bias whether the layers add one
 */
public record RandomFfn(int model, int hidden, boolean gated, Activation activation, boolean bias) {
  private static final double BIAS = 0.1;

  /** Checks that there are features. */
  public RandomFfn {
    if (model < 1 || hidden < 1) {
      throw new UserError("a feed-forward block of " + model + " and " + hidden + " features");
    }
  }

  /**
   * {@return the network}
   *
   * @param dtype of weights, inputs and outputs
   * @param seed equal seeds give equal weights
   */
  public Graph graph(DType dtype, long seed) {
    RandomNodes layers = new RandomNodes("rows", dtype, new SplittableRandom(seed));
    Value x = layers.value("x", model);
    Value inner;
    if (gated) {
      Value gate = layers.apply(activation, linear(layers, "gate", x, hidden));
      inner = layers.apply(ElementwiseOp.MUL, gate, linear(layers, "up", x, hidden));
    } else {
      inner = layers.apply(activation, linear(layers, "up", x, hidden));
    }
    Value y = linear(layers, "down", inner, model);
    return new Graph("ffn", List.of(x), List.of(y), layers.nodes());
  }

  private Value linear(RandomNodes layers, String name, Value from, int features) {
    return layers.linear(name, from, features, bias ? BIAS : 0);
  }
}
