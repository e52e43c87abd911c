package dev.warpwright.compiler;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.Operand.OfTensor;
import dev.warpwright.model.graph.Operand.OfValue;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Networks for tests: chains of layers with everything that a graph may contain. */
final class RandomNetworks {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("rows"));

  /** Kinds of layers; the first six may be a network's last. */
  private static final int LAYERS = 16;

  private static final int ACTIVATIONS = 28;

  private final Random random;
  private final int[] widths;
  private final List<Node> nodes = new ArrayList<>();

  private RandomNetworks(Random random, int[] widths) {
    this.random = random;
    this.widths = widths;
  }

  /**
   * A network.
   *
   * @param widths what the features of a value are taken from
   * @param depth layers with weights, at least; a gate has one more
   */
  static Graph of(Random random, int depth, int... widths) {
    return new RandomNetworks(random, widths).graph(depth);
  }

  /** Layers of one width and activations, nothing else. */
  static Graph plain(Random random, int depth, int width) {
    RandomNetworks networks = new RandomNetworks(random, new int[] {width});
    Value input = networks.value(width);
    Value x = input;
    for (int layer = 0; layer < depth; layer++) {
      x = networks.activation(networks.linear(x, width));
    }
    return new Graph("plain", List.of(input), List.of(x), networks.nodes);
  }

  /**
   * Layers of these widths with norms.
   *
   * @param norm {@code layer}, {@code rms} or {@code softmax} behind each layer but the last, with
   *     an activation behind it; or {@code before}, a layer norm in front of each, to whose result
   *     what was normalised is added where it is as wide; {@code front} the same with an RMS norm,
   *     {@code kept} with its result added
   */
  static Graph normed(Random random, String norm, int... widths) {
    RandomNetworks networks = new RandomNetworks(random, widths);
    Value input = networks.value(widths[0]);
    Value x = input;
    for (int layer = 1; layer < widths.length; layer++) {
      boolean rms = norm.equals("front") || norm.equals("kept");
      Value before = norm.equals("before") ? networks.layerNorm(x) : rms ? networks.rms(x) : x;
      Value y = networks.linear(before, widths[layer]);
      if (layer < widths.length - 1) {
        y =
            switch (norm) {
              case "layer" -> networks.layerNorm(y);
              case "rms" -> networks.rms(y);
              case "softmax" -> networks.softmax(y);
              default -> y;
            };
        y = networks.op(random.nextBoolean() ? Activation.RELU : Activation.GELU, y);
      }
      boolean added = before != x && x.features() == y.features();
      Value same = norm.equals("kept") ? before : x;
      x = added ? networks.op(ElementwiseOp.ADD, same, y) : y;
    }
    return new Graph("normed", List.of(input), List.of(x), networks.nodes);
  }

  /** Two layers, to which their input is added. */
  static Graph residual(Random random, int width) {
    RandomNetworks networks = new RandomNetworks(random, new int[] {width});
    Value input = networks.value(width);
    Value x = networks.residual(input);
    return new Graph("residual", List.of(input), List.of(x), networks.nodes);
  }

  /** The same network, which gives up to four more of the values that it computes, in any order. */
  static Graph withMoreOutputs(Random random, Graph graph) {
    List<Value> values = new ArrayList<>(graph.nodes().stream().map(Node::output).toList());
    values.removeAll(graph.outputs());
    Collections.shuffle(values, random);
    List<Value> outputs = new ArrayList<>(graph.outputs());
    outputs.addAll(values.subList(0, Math.min(values.size(), 1 + random.nextInt(4))));
    Collections.shuffle(outputs, random);
    return new Graph(graph.name(), graph.inputs(), outputs, graph.nodes());
  }

  private Graph graph(int depth) {
    Value input = value(width());
    Value x = input;
    for (int layer = 0; layer < depth; layer++) {
      boolean last = layer == depth - 1;
      x = layer(random.nextInt(last ? 6 : LAYERS), x);
    }
    return new Graph("random", List.of(input), List.of(x), nodes);
  }

  /** A network in which each kind of layer and each activation occurs. */
  static Graph everything(Random random, int... widths) {
    RandomNetworks networks = new RandomNetworks(random, widths);
    Value input = networks.value(networks.width());
    Value x = input;
    for (int kind = 0; kind < LAYERS; kind++) {
      x = networks.layer(kind, x);
    }
    for (int kind = 0; kind < ACTIVATIONS; kind++) {
      x = networks.activation(kind, kind % 4 == 0 ? networks.linear(x, networks.width()) : x);
    }
    return new Graph("everything", List.of(input), List.of(x), networks.nodes);
  }

  private Value layer(int kind, Value x) {
    return switch (kind) {
      case 0 -> linear(x, width());
      case 1, 2 -> activation(linear(x, width()));
      case 3 -> softmax(linear(x, width()));
      case 4 -> logSoftmax(linear(x, width()));
      case 5 -> skip(x, activation(linear(x, width())));
      case 6 -> gate(x, width());
      case 7 -> norm(x);
      case 8 -> residual(x);
      case 9 -> residual(norm(x));
      case 10 -> rmsNorm(x);
      case 11 -> split(x, width());
      case 12 -> chosen(linear(x, width()));
      case 13 -> scaledByOne(x, width());
      default -> activation(linear(x, width()));
    };
  }

  private int width() {
    return widths[random.nextInt(widths.length)];
  }

  private Value value(int features) {
    return new Value("v" + nodes.size(), DType.F32, features, ROWS);
  }

  private Value linear(Value x, int features) {
    Value y = value(features);
    // Uniform with variance 1/K, so that values keep their size from layer to layer.
    ConstantTensor weight =
        tensor(Math.sqrt(3.0 / x.features()), (long) features, (long) x.features());
    ConstantTensor bias = random.nextInt(4) == 0 ? null : tensor(0.5, (long) features);
    nodes.add(new Linear(y, x, weight, bias, "linear"));
    return y;
  }

  private Value norm(Value x) {
    return linear(layerNorm(x), width());
  }

  private Value layerNorm(Value x) {
    Value y = value(x.features());
    @Nullable ConstantTensor scale = random.nextBoolean() ? null : tensor(1, (long) x.features());
    @Nullable ConstantTensor bias = random.nextBoolean() ? null : tensor(1, (long) x.features());
    nodes.add(new LayerNorm(y, x, scale, bias, 1e-3, "norm"));
    return y;
  }

  private Value residual(Value x) {
    Value hidden = activation(linear(x, width()));
    return op(ElementwiseOp.ADD, linear(hidden, x.features()), x);
  }

  private Value softmax(Value x) {
    Value shifted = op(ElementwiseOp.SUB, x, reduce(RowReduce.Kind.MAX, x));
    Value e = op(ElementwiseOp.EXP, shifted);
    // Times the features, so that values keep their size.
    Value y = op(ElementwiseOp.DIV, e, reduce(RowReduce.Kind.SUM, e));
    return withScalar(ElementwiseOp.MUL, y, x.features());
  }

  private Value logSoftmax(Value x) {
    Value shifted = op(ElementwiseOp.SUB, x, reduce(RowReduce.Kind.MAX, x));
    Value sum = reduce(RowReduce.Kind.SUM, op(ElementwiseOp.EXP, shifted));
    return op(ElementwiseOp.SUB, shifted, op(ElementwiseOp.LOG, sum));
  }

  private Value rmsNorm(Value x) {
    return linear(rms(x), width());
  }

  private Value rms(Value x) {
    Value mean = reduce(RowReduce.Kind.MEAN, op(ElementwiseOp.MUL, x, x));
    Value deviation = op(ElementwiseOp.SQRT, withScalar(ElementwiseOp.ADD, mean, 1e-3));
    return withVector(ElementwiseOp.MUL, op(ElementwiseOp.DIV, x, deviation));
  }

  /** What came before beside what was made of it, as in dense and skipping networks. */
  private Value skip(Value x, Value y) {
    List<Value> parts = random.nextBoolean() ? List.of(x, y) : List.of(y, x, y);
    Value all = value(parts.stream().mapToInt(Value::features).sum());
    nodes.add(new Concat(all, parts, "concat"));
    return random.nextBoolean() ? linear(all, width()) : activation(all);
  }

  /** A product of which one half gates the other. */
  private Value split(Value x, int features) {
    Value both = linear(x, 2 * features);
    Value left = value(features);
    nodes.add(Columns.slice(left, both, 0, "left"));
    Value right = value(features);
    nodes.add(Columns.slice(right, both, features, "right"));
    return op(ElementwiseOp.MUL, left, op(Activation.SIGMOID, right));
  }

  /** Every second feature, the last ones, or any of them. */
  private Value chosen(Value x) {
    int features = x.features();
    int count = 1 + random.nextInt(features);
    int kind = random.nextInt(3);
    int[] sources = new int[kind == 0 ? (features + 1) / 2 : count];
    for (int n = 0; n < sources.length; n++) {
      sources[n] =
          switch (kind) {
            case 0 -> 2 * n;
            case 1 -> features - count + n;
            default -> random.nextInt(features);
          };
    }
    Value y = value(sources.length);
    nodes.add(new Columns(y, x, sources, "chosen"));
    return y;
  }

  /** A feature that scales, bounds or replaces all others of its row. */
  private Value scaledByOne(Value x, int features) {
    Value one = random.nextBoolean() ? linear(x, 1) : reduce(RowReduce.Kind.MIN, x);
    Value y = linear(x, features);
    return switch (random.nextInt(3)) {
      case 0 -> op(ElementwiseOp.MUL, op(Activation.SIGMOID, one), y);
      case 1 -> op(ElementwiseOp.MAX, y, op(Activation.TANH, one));
      default -> op(ElementwiseOp.WHERE, op(ElementwiseOp.GREATER, y, one), y, one);
    };
  }

  private Value reduce(RowReduce.Kind kind, Value x) {
    Value y = value(1);
    nodes.add(new RowReduce(y, x, kind, "reduce"));
    return y;
  }

  private Value gate(Value x, int features) {
    Value gate = activation(linear(x, features));
    return linear(op(ElementwiseOp.MUL, gate, linear(x, features)), width());
  }

  /** An activation of bounded slope, so that rounding does not grow without bound. */
  private Value activation(Value x) {
    return activation(random.nextInt(ACTIVATIONS), x);
  }

  private Value activation(int kind, Value x) {
    return switch (kind) {
      case 0 -> op(Activation.RELU, x);
      case 1 -> op(Activation.GELU, x);
      case 2 -> op(Activation.GELU_TANH, x);
      case 3 -> op(Activation.TANH, x);
      case 4 -> op(Activation.SIGMOID, x);
      case 5 -> op(Activation.SIN, x);
      case 6 -> op(Activation.COS, x);
      case 7 -> op(Activation.ERF, x);
      case 8 -> op(ElementwiseOp.MUL, x, op(Activation.SIGMOID, x));
      case 9 -> op(ElementwiseOp.EXP, op(ElementwiseOp.NEG, op(ElementwiseOp.ABS, x)));
      case 10 -> op(ElementwiseOp.LOG, withScalar(ElementwiseOp.ADD, op(ElementwiseOp.EXP, x), 1));
      case 11 -> op(ElementwiseOp.RECIPROCAL, withScalar(ElementwiseOp.ADD, square(x), 1));
      case 12 -> op(ElementwiseOp.SQRT, withScalar(ElementwiseOp.ADD, square(x), 0.25));
      case 13 -> withScalar(ElementwiseOp.MAX, withScalar(ElementwiseOp.MIN, x, 1.5), -0.5);
      case 14 -> op(ElementwiseOp.SUB, x, op(Activation.TANH, x));
      case 15 -> withVector(ElementwiseOp.MUL, op(ElementwiseOp.IDENTITY, x));
      case 16 -> withVector(ElementwiseOp.ADD, withScalar(ElementwiseOp.DIV, x, 1.5));
      case 17 -> withScalar(ElementwiseOp.LEAKY_RELU, x, 0.1);
      case 18 -> withVector(ElementwiseOp.LEAKY_RELU, x);
      case 19 -> withScalar(ElementwiseOp.ELU, x, 1.2);
      case 20 -> op(Activation.SOFTPLUS, x);
      case 21 -> op(Activation.MISH, x);
      case 22 -> hardSwish(x);
      // Continuous where the comparisons change, so that rounding cannot decide.
      case 23 ->
          op(ElementwiseOp.WHERE, either(x), x, withScalar(ElementwiseOp.MUL, square(x), 0.5));
      case 24 -> op(ElementwiseOp.MUL, x, withScalar(ElementwiseOp.GREATER_EQUAL, x, 0));
      case 25 -> withScalar(ElementwiseOp.POW, withScalar(ElementwiseOp.ADD, square(x), 1), 0.3);
      case 26 -> op(ElementwiseOp.MUL, x, op(ElementwiseOp.SIGN, x));
      default -> x;
    };
  }

  private Value hardSwish(Value x) {
    Value shifted = op(Activation.RELU, withScalar(ElementwiseOp.ADD, x, 3));
    Value bounded = withScalar(ElementwiseOp.MIN, shifted, 6);
    return op(ElementwiseOp.MUL, x, withScalar(ElementwiseOp.DIV, bounded, 6));
  }

  /** Whether x < 0 or x > 2, where x and x² / 2 agree. */
  private Value either(Value x) {
    Value low = withScalar(ElementwiseOp.LESS, x, 0);
    Value high = op(ElementwiseOp.NOT, withScalar(ElementwiseOp.LESS_EQUAL, x, 2));
    return op(ElementwiseOp.OR, low, high);
  }

  private Value square(Value x) {
    return withScalar(ElementwiseOp.POW, x, 2);
  }

  private Value op(Pointwise kind, Value... operands) {
    List<Operand> list = new ArrayList<>();
    for (Value operand : operands) {
      list.add(new OfValue(operand));
    }
    Value widest = operands[0];
    for (Value operand : operands) {
      widest = operand.features() > widest.features() ? operand : widest;
    }
    return elementwise(kind, widest, list);
  }

  private Value withScalar(Pointwise kind, Value x, double scalar) {
    ConstantTensor tensor = ConstantTensor.ofDoubles("scalar", DType.F32, List.of(), scalar);
    return elementwise(kind, x, List.of(new OfValue(x), new OfTensor(tensor)));
  }

  private Value withVector(Pointwise kind, Value x) {
    OfTensor vector = new OfTensor(tensor(1, (long) x.features()));
    return elementwise(kind, x, List.of(new OfValue(x), vector));
  }

  private Value elementwise(Pointwise kind, Value x, List<Operand> operands) {
    Value y = value(x.features());
    nodes.add(new Elementwise(y, kind, operands, kind.text()));
    return y;
  }

  private ConstantTensor tensor(double bound, Long... shape) {
    List<Long> extents = List.of(shape);
    double[] values = new double[(int) ConstantTensor.elementCount(extents)];
    for (int i = 0; i < values.length; i++) {
      values[i] = bound * (2 * random.nextDouble() - 1);
    }
    return ConstantTensor.ofDoubles("constant", DType.F32, extents, values);
  }
}
