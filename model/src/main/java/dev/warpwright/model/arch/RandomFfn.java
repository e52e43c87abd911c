package dev.warpwright.model.arch;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

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
    Layers layers = new Layers(dtype, bias, new SplittableRandom(seed));
    Value x = layers.value("x", model);
    Value inner;
    if (gated) {
      Value gate = layers.apply(activation, layers.linear("gate", x, hidden));
      inner = layers.apply(ElementwiseOp.MUL, gate, layers.linear("up", x, hidden));
    } else {
      inner = layers.apply(activation, layers.linear("up", x, hidden));
    }
    Value y = layers.linear("down", inner, model);
    return new Graph("ffn", List.of(x), List.of(y), layers.nodes);
  }

  /** Makes the nodes. */
  private record Layers(DType dtype, boolean bias, SplittableRandom random, List<Node> nodes) {
    Layers(DType dtype, boolean bias, SplittableRandom random) {
      this(dtype, bias, random, new ArrayList<>());
    }

    Value value(String name, int features) {
      return new Value(name, dtype, features, List.of(new Dim.Symbolic("rows")));
    }

    Value linear(String name, Value from, int features) {
      Value to = value(name + "_out", features);
      ConstantTensor weight =
          ConstantTensor.random(
                  name + ".weight",
                  dtype,
                  List.of((long) features, (long) from.features()),
                  1 / Math.sqrt(from.features()),
                  random.split())
              .stored();
      @Nullable ConstantTensor added =
          bias
              ? ConstantTensor.random(
                      name + ".bias", dtype, List.of((long) features), BIAS, random.split())
                  .stored()
              : null;
      nodes.add(new Linear(to, from, weight, added, name));
      return to;
    }

    Value apply(Pointwise function, Value... operands) {
      Value to = value("v" + nodes.size(), operands[0].features());
      List<Operand> all = new ArrayList<>();
      for (Value operand : operands) {
        all.add(new Operand.OfValue(operand));
      }
      nodes.add(new Elementwise(to, function, all, to.name()));
      return to;
    }
  }
}
