package dev.warpwright.compiler;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;

/**
 * What a network gives if nothing but what a precision asks for is rounded: the operands of each
 * product, and every result to f32. How far that is from the exact result is a property of the
 * network, for example where its outputs almost cancel, and no kernel can be asked to do better.
 */
final class RoundedNetwork {
  /** Products with fewer inputs are computed in f32. */
  private static final int EXACT_BELOW = 8;

  private RoundedNetwork() {}

  /** The outputs for the only input. */
  static List<double[]> evaluate(Graph graph, Precision precision, int rows, double[] x) {
    Map<Value, double[]> values = new HashMap<>();
    values.put(graph.inputs().getFirst(), rounded(x, narrow(precision)));
    for (Node node : graph.needed()) {
      boolean narrow = node instanceof Linear l && l.input().features() >= EXACT_BELOW;
      List<double[]> read = new ArrayList<>();
      List<Value> inputs = node.inputs().stream().distinct().toList();
      for (Value input : inputs) {
        double[] value = Objects.requireNonNull(values.get(input));
        read.add(narrow ? rounded(value, narrow(precision)) : value);
      }
      Node same = node instanceof Linear l && narrow ? rounded(l, precision) : node;
      Graph one = new Graph("one", inputs, List.of(node.output()), List.of(same));
      double[] result = GraphEvaluator.evaluate(one, rows, read).getFirst();
      values.put(node.output(), rounded(result, v -> (float) v));
    }
    return graph.outputs().stream().map(y -> Objects.requireNonNull(values.get(y))).toList();
  }

  private static DoubleUnaryOperator narrow(Precision precision) {
    return switch (precision) {
      case F32 -> v -> (float) v;
      case TF32 -> v -> Numerics.tf32((float) v);
      default -> v -> Numerics.round(precision.operand(), v);
    };
  }

  private static double[] rounded(double[] values, DoubleUnaryOperator round) {
    double[] result = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      result[i] = round.applyAsDouble(values[i]);
    }
    return result;
  }

  private static Linear rounded(Linear linear, Precision precision) {
    double[] weights = rounded(linear.weight().toDoubles(), narrow(precision));
    ConstantTensor weight =
        ConstantTensor.ofDoubles("rounded", DType.F64, linear.weight().shape(), weights);
    return new Linear(linear.output(), linear.input(), weight, linear.bias(), linear.name());
  }
}
