package dev.warpwright.compiler;

import dev.warpwright.ir.DType;
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
import dev.warpwright.model.graph.Tensor;
import dev.warpwright.model.graph.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Networks for tests: chains of layers with everything that a graph may contain. */
final class RandomNetworks {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("rows"));

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

  private Graph graph(int depth) {
    Value input = value(width());
    Value x = input;
    for (int layer = 0; layer < depth; layer++) {
      boolean last = layer == depth - 1;
      x =
          switch (random.nextInt(last ? 2 : 8)) {
            case 0 -> linear(x, width());
            case 1 -> activation(linear(x, width()));
            case 2 -> gate(x, width());
            case 3 -> norm(x);
            case 4 -> residual(x);
            case 5 -> residual(norm(x));
            default -> activation(linear(x, width()));
          };
    }
    return new Graph("random", List.of(input), List.of(x), nodes);
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
    Tensor weight = tensor(Math.sqrt(3.0 / x.features()), (long) features, (long) x.features());
    Tensor bias = random.nextInt(4) == 0 ? null : tensor(0.5, (long) features);
    nodes.add(new Linear(y, x, weight, bias, "linear"));
    return y;
  }

  private Value norm(Value x) {
    // The deviation of few features may be tiny, which would magnify rounding.
    Value wide = x.features() < 16 ? linear(x, 30) : x;
    Value y = value(wide.features());
    @Nullable Tensor scale = random.nextBoolean() ? null : tensor(1, (long) wide.features());
    @Nullable Tensor bias = random.nextBoolean() ? null : tensor(1, (long) wide.features());
    nodes.add(new LayerNorm(y, wide, scale, bias, 1e-2, "norm"));
    return linear(y, width());
  }

  private Value residual(Value x) {
    Value hidden = activation(linear(x, width()));
    return op(ElementwiseOp.ADD, linear(hidden, x.features()), x);
  }

  private Value gate(Value x, int features) {
    Value gate = activation(linear(x, features));
    return linear(op(ElementwiseOp.MUL, gate, linear(x, features)), width());
  }

  /** An activation of bounded slope, so that rounding does not grow without bound. */
  private Value activation(Value x) {
    return switch (random.nextInt(18)) {
      case 0 -> op(ElementwiseOp.RELU, x);
      case 1 -> op(ElementwiseOp.GELU, x);
      case 2 -> op(ElementwiseOp.GELU_TANH, x);
      case 3 -> op(ElementwiseOp.TANH, x);
      case 4 -> op(ElementwiseOp.SIGMOID, x);
      case 5 -> op(ElementwiseOp.SIN, x);
      case 6 -> op(ElementwiseOp.COS, x);
      case 7 -> op(ElementwiseOp.ERF, x);
      case 8 -> op(ElementwiseOp.MUL, x, op(ElementwiseOp.SIGMOID, x));
      case 9 -> op(ElementwiseOp.EXP, op(ElementwiseOp.NEG, op(ElementwiseOp.ABS, x)));
      case 10 -> op(ElementwiseOp.LOG, withScalar(ElementwiseOp.ADD, op(ElementwiseOp.EXP, x), 1));
      case 11 -> op(ElementwiseOp.RECIPROCAL, withScalar(ElementwiseOp.ADD, square(x), 1));
      case 12 -> op(ElementwiseOp.SQRT, withScalar(ElementwiseOp.ADD, square(x), 0.25));
      case 13 -> withScalar(ElementwiseOp.MAX, withScalar(ElementwiseOp.MIN, x, 1.5), -0.5);
      case 14 -> op(ElementwiseOp.SUB, x, op(ElementwiseOp.TANH, x));
      case 15 -> withVector(ElementwiseOp.MUL, op(ElementwiseOp.IDENTITY, x));
      case 16 -> withVector(ElementwiseOp.ADD, withScalar(ElementwiseOp.DIV, x, 1.5));
      default -> x;
    };
  }

  private Value square(Value x) {
    return withScalar(ElementwiseOp.POW, x, 2);
  }

  private Value op(ElementwiseOp kind, Value... operands) {
    List<Operand> list = new ArrayList<>();
    for (Value operand : operands) {
      list.add(new OfValue(operand));
    }
    return elementwise(kind, operands[0], list);
  }

  private Value withScalar(ElementwiseOp kind, Value x, double scalar) {
    Tensor tensor = Tensor.ofDoubles("scalar", DType.F32, List.of(), scalar);
    return elementwise(kind, x, List.of(new OfValue(x), new OfTensor(tensor)));
  }

  private Value withVector(ElementwiseOp kind, Value x) {
    OfTensor vector = new OfTensor(tensor(1, (long) x.features()));
    return elementwise(kind, x, List.of(new OfValue(x), vector));
  }

  private Value elementwise(ElementwiseOp kind, Value x, List<Operand> operands) {
    Value y = value(x.features());
    nodes.add(new Elementwise(y, kind, operands, kind.text()));
    return y;
  }

  private Tensor tensor(double bound, Long... shape) {
    List<Long> extents = List.of(shape);
    double[] values = new double[(int) Tensor.elementCount(extents)];
    for (int i = 0; i < values.length; i++) {
      values[i] = bound * (2 * random.nextDouble() - 1);
    }
    return Tensor.ofDoubles("constant", DType.F32, extents, values);
  }
}
