package dev.warpwright.model.onnx;

import static dev.warpwright.model.onnx.OnnxBuilder.attribute;
import static dev.warpwright.model.onnx.OnnxBuilder.ints;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Networks as PyTorch's exporters write them, against a straightforward evaluation written down
 * here.
 */
class ExportedNetworksTest {
  private final Random random = new Random(3);

  private float[] floats(int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = random.nextFloat() - 0.5f;
    }
    return values;
  }

  private double[] input(int count) {
    return random.doubles(count, -1, 1).toArray();
  }

  private static Graph load(OnnxBuilder builder) {
    return OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(builder.build()));
  }

  private static List<String> ops(Graph graph) {
    return graph.nodes().stream().map(Node::op).toList();
  }

  private static void assertComputes(Graph graph, int rows, double[] x, double... expected) {
    double[] y = GraphEvaluator.evaluate(graph, rows, List.of(x)).getFirst();
    assertThat(y).containsExactly(expected, within(1e-5));
    double[] simple =
        GraphEvaluator.evaluate(GraphSimplifier.simplify(graph), rows, List.of(x)).getFirst();
    assertThat(simple).containsExactly(expected, within(1e-5));
  }

  /** x · wᵀ + b with w [n, k]. */
  private static double[] linear(double[] x, float[] w, float[] b) {
    double[] y = new double[b.length];
    for (int n = 0; n < y.length; n++) {
      y[n] = b[n];
      for (int k = 0; k < x.length; k++) {
        y[n] += x[k] * w[n * x.length + k];
      }
    }
    return y;
  }

  private static double[] row(double[] x, int row, int features) {
    return Arrays.copyOfRange(x, row * features, (row + 1) * features);
  }

  /** x.view(x.size(0), -1), batch norm, a linear layer and log softmax. */
  @Test
  void anImageClassifier() {
    float[] w = floats(3 * 6);
    float[] b = floats(3);
    OnnxBuilder builder =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, "batch", 1, 2, 3)
            .initializer("w", List.of(3, 6), w)
            .initializer("b", List.of(3), b)
            .initializer("scale", List.of(3), 1, 2, 3)
            .initializer("shift", List.of(3), -1, 0, 1)
            .initializer("mean", List.of(3), 0.5f, 0.25f, -0.5f)
            .initializer("var", List.of(3), 1, 2, 4)
            .initializer(
                OnnxBuilder.tensor("zero", OnnxBuilder.INT64, List.of())
                    .bytes(7, new Message().raw(0).build()))
            .ints("axis", 0)
            .ints("rest", -1)
            .node("Shape", List.of("x"), "shape")
            .node("Gather", List.of("shape", "zero"), "size", attribute("axis", 0))
            .node("Unsqueeze", List.of("size", "axis"), "sizes")
            .node("Concat", List.of("sizes", "rest"), "flat", attribute("axis", 0))
            .node("Reshape", List.of("x", "flat"), "f")
            .node("Gemm", List.of("f", "w", "b"), "g", attribute("transB", 1))
            .node(
                "BatchNormalization",
                List.of("g", "scale", "shift", "mean", "var"),
                "n",
                attribute("epsilon", 0f))
            .node("LogSoftmax", List.of("n"), "y", attribute("axis", 1))
            .output("y", "batch", 3);
    Graph graph = load(builder);
    assertThat(graph.inputs().getFirst().features()).isEqualTo(6);
    assertThat(graph.inputs().getFirst().trailing()).containsExactly(1L, 2L, 3L);
    assertThat(ops(GraphSimplifier.simplify(graph)))
        .containsExactly("linear", "row_max", "sub", "exp", "row_sum", "log", "sub");
    double[] x = input(2 * 6);
    double[] expected = new double[6];
    for (int m = 0; m < 2; m++) {
      double[] g = linear(row(x, m, 6), w, b);
      double[] mean = {0.5, 0.25, -0.5};
      double[] deviation = {1, Math.sqrt(2), 2};
      double sum = 0;
      for (int n = 0; n < 3; n++) {
        g[n] = (g[n] - mean[n]) / deviation[n] * (n + 1) + n - 1;
        sum += Math.exp(g[n]);
      }
      for (int n = 0; n < 3; n++) {
        expected[m * 3 + n] = g[n] - Math.log(sum);
      }
    }
    assertComputes(graph, 2, x, expected);
  }

  /** RMS norm spelled out with casts, and a gated FFN of which one product makes both halves. */
  @Test
  void aGatedFeedForwardBlock() {
    float[] w1 = floats(6 * 4);
    float[] w2 = floats(4 * 3);
    OnnxBuilder builder =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, "batch", "tokens", 4)
            .initializer("two", List.of(), 2)
            .initializer("eps", List.of(), 0.125f)
            .initializer("scale", List.of(4), 1, 2, 3, 4)
            .initializer("w1", List.of(4, 6), w1)
            .initializer("w2", List.of(3, 4), w2)
            .node("Cast", List.of("x"), "x32", attribute("to", OnnxBuilder.DOUBLE))
            .node("Cast", List.of("x32"), "xf", attribute("to", OnnxBuilder.FLOAT))
            .node("Pow", List.of("xf", "two"), "squares")
            .node("ReduceMean", List.of("squares"), "m", ints("axes", List.of(-1L)))
            .node("Add", List.of("m", "eps"), "shifted")
            .node("Sqrt", List.of("shifted"), "root")
            .node("Reciprocal", List.of("root"), "inverse")
            .node("Mul", List.of("xf", "inverse"), "normal")
            .node("Mul", List.of("scale", "normal"), "scaled")
            .node("MatMul", List.of("scaled", "w1"), "both")
            .node("Split", "s", List.of("both"), List.of("gate", "up"), attribute("axis", -1))
            .node("Sigmoid", List.of("gate"), "sig")
            .node("Mul", List.of("gate", "sig"), "silu")
            .node("Mul", List.of("silu", "up"), "h")
            .node("MatMul", List.of("h", "w2"), "down")
            .node("Add", List.of("x", "down"), "y")
            .output("y", "batch", "tokens", 4)
            .opset(17);
    Graph graph = load(builder);
    // The halves are products of their own, so that nothing is cut when it runs.
    assertThat(ops(GraphSimplifier.simplify(graph))).doesNotContain("columns");
    double[] x = input(4);
    double mean = Arrays.stream(x).map(v -> v * v).sum() / 4;
    double[] scaled = new double[4];
    for (int k = 0; k < 4; k++) {
      scaled[k] = x[k] / Math.sqrt(mean + 0.125) * (k + 1);
    }
    double[] both = new double[6];
    for (int n = 0; n < 6; n++) {
      for (int k = 0; k < 4; k++) {
        both[n] += scaled[k] * w1[k * 6 + n];
      }
    }
    double[] expected = x.clone();
    for (int k = 0; k < 3; k++) {
      double h = both[k] / (1 + Math.exp(-both[k])) * both[k + 3];
      for (int n = 0; n < 4; n++) {
        expected[n] += h * w2[k * 4 + n];
      }
    }
    assertComputes(graph, 1, x, expected);
  }

  /** Sines and cosines of a point beside the point, which comes in once more in the middle. */
  @Test
  void aFieldOfRadiance() {
    float[] w1 = floats(5 * 6);
    float[] b1 = floats(5);
    float[] w2 = floats(3 * 7);
    float[] b2 = floats(3);
    OnnxBuilder builder =
        OnnxBuilder.withInput(2)
            .initializer("pi", List.of(), 3.140625f)
            .initializer("w1", List.of(5, 6), w1)
            .initializer("b1", List.of(5), b1)
            .initializer("w2", List.of(3, 7), w2)
            .initializer("b2", List.of(3), b2)
            .node("Mul", List.of("x", "pi"), "angle")
            .node("Sin", List.of("angle"), "sin")
            .node("Cos", List.of("angle"), "cos")
            .node("Concat", List.of("x", "sin", "cos"), "encoded", attribute("axis", -1))
            .node("Gemm", List.of("encoded", "w1", "b1"), "g", attribute("transB", 1))
            .node("Relu", List.of("g"), "r")
            .node("Concat", List.of("r", "x"), "skip", attribute("axis", 1))
            .node("Gemm", List.of("skip", "w2", "b2"), "g2", attribute("transB", 1))
            .node("Softplus", List.of("g2"), "y")
            .output("y", "batch", 3);
    Graph graph = load(builder);
    assertThat(ops(GraphSimplifier.simplify(graph))).doesNotContain("concat");
    double[] x = input(2);
    double[] encoded = new double[6];
    for (int i = 0; i < 2; i++) {
      encoded[i] = x[i];
      encoded[i + 2] = Math.sin(x[i] * 3.140625);
      encoded[i + 4] = Math.cos(x[i] * 3.140625);
    }
    double[] h = Arrays.stream(linear(encoded, w1, b1)).map(v -> Math.max(v, 0)).toArray();
    double[] skip = Arrays.copyOf(h, 7);
    System.arraycopy(x, 0, skip, 5, 2);
    double[] y = linear(skip, w2, b2);
    assertComputes(graph, 1, x, Arrays.stream(y).map(v -> Math.log1p(Math.exp(v))).toArray());
  }

  @Test
  void aNetworkOfSeveralOutputs() {
    OnnxBuilder builder =
        OnnxBuilder.withInput(2)
            .node("Tanh", List.of("x"), "t")
            .node("Identity", List.of("t"), "again")
            .node("Neg", List.of("t"), "n")
            .output("t", "batch", 2)
            .output("again", "batch", 2)
            .output("n", "batch", 2);
    Graph graph = load(builder);
    assertThat(graph.outputs()).extracting(v -> v.name()).containsExactly("t", "again", "n");
    List<double[]> y = GraphEvaluator.evaluate(graph, 1, List.of(new double[] {0.5, -1}));
    assertThat(y.get(1)).containsExactly(Math.tanh(0.5), Math.tanh(-1));
    assertThat(y.get(2)).containsExactly(-Math.tanh(0.5), -Math.tanh(-1));
  }

  @Test
  void inputsOfOneDimension() {
    float[] w = floats(6);
    OnnxBuilder vector =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, 3)
            .initializer("w", List.of(2, 3), w)
            .node("MatMul", List.of("w", "x"), "y")
            .output("y", 2);
    double[] x = input(3);
    assertComputes(load(vector), 1, x, linear(x, w, new float[2]));
    OnnxBuilder numbers =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, "batch")
            .ints("axis", 1)
            .node("Unsqueeze", List.of("x", "axis"), "u")
            .initializer("w", List.of(1, 2), 2, 3)
            .node("MatMul", List.of("u", "w"), "y")
            .output("y", "batch", 2);
    assertComputes(load(numbers), 2, new double[] {1, 10}, 2, 3, 20, 30);
  }
}
