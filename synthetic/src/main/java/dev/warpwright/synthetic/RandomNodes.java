package dev.warpwright.synthetic;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/** The nodes of a network with random weights, one after the other. */
final class RandomNodes {
  private final String rows;
  private final DType dtype;
  private final SplittableRandom random;
  private final List<Node> nodes = new ArrayList<>();

  /**
   * None yet.
   *
   * @param rows what the dimension of rows is called
   * @param dtype of weights and values
   */
  RandomNodes(String rows, DType dtype, SplittableRandom random) {
    this.rows = rows;
    this.dtype = dtype;
    this.random = random;
  }

  List<Node> nodes() {
    return nodes;
  }

  Value value(String name, int features) {
    return new Value(name, dtype, features, List.of(new Dim.Symbolic(rows)));
  }

  /**
   * A linear layer, its weights scaled by its inputs, so that results are of the size of 1.
   *
   * @param bias the deviation of what is added; 0 for nothing
   */
  Value linear(String name, Value from, int features, double bias) {
    Value to = value(name + "_out", features);
    ConstantTensor weight =
        tensor(
            name + ".weight",
            List.of((long) features, (long) from.features()),
            1 / Math.sqrt(from.features()));
    @Nullable ConstantTensor added =
        bias == 0 ? null : tensor(name + ".bias", List.of((long) features), bias);
    nodes.add(new Linear(to, from, weight, added, name));
    return to;
  }

  private ConstantTensor tensor(String name, List<Long> shape, double deviation) {
    return ConstantTensor.random(name, dtype, shape, deviation, random.split()).stored();
  }

  /** One number for each feature, around 1. */
  Operand factors(String name, int features) {
    double[] values = new double[features];
    SplittableRandom own = random.split();
    Arrays.setAll(values, i -> 1 + 0.1 * own.nextGaussian());
    return new Operand.OfTensor(
        ConstantTensor.ofDoubles(name, dtype, List.of((long) features), values).stored());
  }

  Operand number(double value) {
    return new Operand.OfTensor(
        ConstantTensor.ofDoubles(Double.toString(value), dtype, List.of(), value));
  }

  Value apply(Pointwise function, Value... operands) {
    Operand[] all = Arrays.stream(operands).map(Operand.OfValue::new).toArray(Operand[]::new);
    return apply(function, operands[0].features(), all);
  }

  Value apply(Pointwise function, int features, Operand... operands) {
    Value to = value("v" + nodes.size(), features);
    nodes.add(new Elementwise(to, function, List.of(operands), to.name()));
    return to;
  }

  Value mean(Value of) {
    Value to = value("v" + nodes.size(), 1);
    nodes.add(new RowReduce(to, of, RowReduce.Kind.MEAN, to.name()));
    return to;
  }

  Value concat(Value... parts) {
    int features = Arrays.stream(parts).mapToInt(Value::features).sum();
    Value to = value("v" + nodes.size(), features);
    nodes.add(new Concat(to, List.of(parts), to.name()));
    return to;
  }

  /**
   * Chosen features.
   *
   * @param source of each the one that it is
   */
  Value columns(Value of, int features, IntUnaryOperator source) {
    Value to = value("v" + nodes.size(), features);
    int[] sources = new int[features];
    Arrays.setAll(sources, source);
    nodes.add(new Columns(to, of, sources, to.name()));
    return to;
  }

  /** The last value computed, under another name. */
  Value named(Value last, String name) {
    Value to = value(name, last.features());
    nodes.set(nodes.size() - 1, nodes.getLast().to(to));
    return to;
  }
}
