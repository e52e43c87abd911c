package dev.warpwright.model.onnx;

import static dev.warpwright.model.onnx.OnnxBuilder.attribute;
import static dev.warpwright.model.onnx.OnnxBuilder.ints;
import static dev.warpwright.model.onnx.OnnxBuilder.withInput;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.function.UnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Operators against their definitions, written down here once more, row by row in double precision.
 */
class OnnxOperatorsTest {
  private static final double[][] ROWS = {
    {-2.5, -1, 0.25, 3}, {0.5, -0.125, 40, -30}, {1.5, 1.5, 1.5, 1.5}, {-3, -2, -1, 0}
  };

  private static DynamicTest each(String name, OnnxBuilder builder, DoubleUnaryOperator f) {
    return rows(name, builder, row -> Arrays.stream(row).map(f).toArray());
  }

  private static DynamicTest rows(
      String name, OnnxBuilder builder, UnaryOperator<double[]> meaning) {
    return DynamicTest.dynamicTest(name, () -> check(builder, meaning));
  }

  private static void check(OnnxBuilder builder, UnaryOperator<double[]> meaning) {
    Graph graph = OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(builder.build()));
    double[] x = Arrays.stream(ROWS).flatMapToDouble(DoubleStream::of).toArray();
    double[] expected =
        Arrays.stream(ROWS).flatMapToDouble(row -> DoubleStream.of(meaning.apply(row))).toArray();
    for (Graph each : List.of(graph, GraphSimplifier.simplify(graph))) {
      double[] y = GraphEvaluator.evaluate(each, ROWS.length, List.of(x)).getFirst();
      assertThat(y).hasSameSizeAs(expected);
      for (int i = 0; i < y.length; i++) {
        // Attributes and constants of the file are floats.
        double tolerance = 1e-6 * Math.max(1, Math.abs(expected[i]));
        boolean same =
            Double.compare(y[i], expected[i]) == 0 || Math.abs(y[i] - expected[i]) <= tolerance;
        assertThat(same).as("element %d: %s, expected %s", i, y[i], expected[i]).isTrue();
      }
    }
  }

  private static OnnxBuilder op(String op, Message... attributes) {
    return withInput(4).node(op, List.of("x"), "y", attributes).output("y", "batch", 4);
  }

  private static double softplus(double x) {
    return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  @TestFactory
  Stream<DynamicTest> activations() {
    double alpha = 1.67326319217681884765625;
    double gamma = 1.05070102214813232421875;
    return Stream.of(
        each("LeakyRelu", op("LeakyRelu", attribute("alpha", 0.2f)), x -> x < 0 ? 0.2 * x : x),
        each("LeakyRelu by default", op("LeakyRelu"), x -> x < 0 ? 0.01 * x : x),
        each("Elu", op("Elu", attribute("alpha", 1.5f)), x -> x > 0 ? x : 1.5 * (Math.exp(x) - 1)),
        each("Selu", op("Selu"), x -> gamma * (x > 0 ? x : alpha * Math.exp(x) - alpha)),
        each(
            "Celu",
            op("Celu", attribute("alpha", 2f)),
            x -> Math.max(0, x) + Math.min(0, 2 * (Math.exp(x / 2) - 1))),
        each("Softplus", op("Softplus"), OnnxOperatorsTest::softplus),
        each("Mish", op("Mish"), x -> x * Math.tanh(softplus(x))),
        each("Swish", op("Swish", attribute("alpha", 1.5f)), x -> x * sigmoid(1.5 * x)),
        each("HardSwish", op("HardSwish"), x -> x * Math.clamp(x / 6 + 0.5, 0, 1)),
        each("HardSigmoid", op("HardSigmoid"), x -> Math.clamp(0.2 * x + 0.5, 0, 1)),
        each("Softsign", op("Softsign"), x -> x / (1 + Math.abs(x))),
        each(
            "ThresholdedRelu",
            op("ThresholdedRelu", attribute("alpha", 0.4f)),
            x -> x > 0.4f ? x : 0),
        each("Sign", op("Sign"), Math::signum),
        each("Floor", op("Floor"), Math::floor),
        each("Ceil", op("Ceil"), Math::ceil),
        rows(
            "PRelu",
            withInput(4)
                .initializer("slope", List.of(4), 0.1f, 0.2f, 0.3f, 0.4f)
                .node("PRelu", List.of("x", "slope"), "y")
                .output("y", "batch", 4),
            x -> map(x, (v, i) -> v < 0 ? v * (i + 1) / 10 : v)),
        each(
            "Clip",
            withInput(4)
                .initializer("low", List.of(), -1)
                .initializer("high", List.of(), 2)
                .node("Clip", List.of("x", "low", "high"), "y")
                .output("y", "batch", 4),
            x -> Math.clamp(x, -1, 2)),
        each(
            "Clip from above",
            withInput(4)
                .initializer("high", List.of(), 2)
                .node("Clip", List.of("x", "", "high"), "y")
                .output("y", "batch", 4),
            x -> Math.min(x, 2)));
  }

  private interface Indexed {
    double of(double value, int index);
  }

  private static double[] map(double[] row, Indexed f) {
    return IntStream.range(0, row.length).mapToDouble(i -> f.of(row[i], i)).toArray();
  }

  private static double[] softmax(double[] row) {
    double sum = Arrays.stream(row).map(v -> Math.exp(v - max(row))).sum();
    return map(row, (v, i) -> Math.exp(v - max(row)) / sum);
  }

  private static double max(double[] row) {
    return Arrays.stream(row).max().getAsDouble();
  }

  private static double mean(double[] row) {
    return Arrays.stream(row).sum() / row.length;
  }

  private static double square(double[] row) {
    return Arrays.stream(row).map(v -> v * v).sum();
  }

  private static OnnxBuilder reduction(String op) {
    return withInput(4).node(op, List.of("x"), "y", ints("axes", List.of(-1L))).opset(17);
  }

  @TestFactory
  Stream<DynamicTest> rowOperators() {
    Message keep = attribute("keepdims", 0);
    return Stream.of(
        rows("Softmax", op("Softmax"), OnnxOperatorsTest::softmax),
        rows(
            "Softmax of the axis", op("Softmax", attribute("axis", 1)), OnnxOperatorsTest::softmax),
        rows(
            "LogSoftmax",
            op("LogSoftmax", attribute("axis", -1)),
            row -> map(row, (v, i) -> v - max(row) - Math.log(sumOfExp(row)))),
        rows(
            "ReduceMean",
            reduction("ReduceMean").output("y", "batch", 1),
            row -> new double[] {mean(row)}),
        rows(
            "ReduceMax without the dimension",
            withInput(4)
                .ints("axes", 1)
                .node("ReduceMax", List.of("x", "axes"), "y", keep)
                .output("y", "batch"),
            row -> new double[] {max(row)}),
        rows(
            "ReduceMin",
            reduction("ReduceMin").output("y", "batch", 1),
            row -> new double[] {Arrays.stream(row).min().getAsDouble()}),
        rows(
            "ReduceSum",
            withInput(4)
                .ints("axes", -1)
                .node("ReduceSum", List.of("x", "axes"), "y")
                .output("y", "batch", 1),
            row -> new double[] {4 * mean(row)}),
        rows(
            "ReduceSum of nothing",
            op("ReduceSum", attribute("noop_with_empty_axes", 1)),
            row -> row),
        rows(
            "ReduceL1",
            reduction("ReduceL1").output("y", "batch", 1),
            row -> new double[] {Arrays.stream(row).map(Math::abs).sum()}),
        rows(
            "ReduceL2",
            reduction("ReduceL2").output("y", "batch", 1),
            row -> new double[] {Math.sqrt(square(row))}),
        rows(
            "ReduceSumSquare",
            reduction("ReduceSumSquare").output("y", "batch", 1),
            row -> new double[] {square(row)}),
        rows(
            "ReduceLogSumExp",
            reduction("ReduceLogSumExp").output("y", "batch", 1),
            row -> new double[] {max(row) + Math.log(sumOfExp(row))}),
        rows(
            "LpNormalization",
            op("LpNormalization"),
            row -> map(row, (v, i) -> v / Math.sqrt(square(row)))),
        rows("RMSNormalization", rmsNorm("RMSNormalization"), OnnxOperatorsTest::rmsNormed),
        rows(
            "SimplifiedLayerNormalization",
            rmsNorm("SimplifiedLayerNormalization"),
            OnnxOperatorsTest::rmsNormed),
        rows(
            "BatchNormalization",
            withInput(4)
                .initializer("scale", List.of(4), 1, 2, 3, 4)
                .initializer("bias", List.of(4), 5, 6, 7, 8)
                .initializer("mean", List.of(4), 0.5f, 1, -1, 2)
                .initializer("var", List.of(4), 1, 4, 9, 0.25f)
                .node(
                    "BatchNormalization",
                    List.of("x", "scale", "bias", "mean", "var"),
                    "y",
                    attribute("epsilon", 0.5f))
                .output("y", "batch", 4),
            row -> {
              double[] mean = {0.5, 1, -1, 2};
              double[] var = {1, 4, 9, 0.25};
              return map(row, (v, i) -> (v - mean[i]) / Math.sqrt(var[i] + 0.5) * (i + 1) + i + 5);
            }),
        rows(
            "a mean that is taken off",
            withInput(4)
                .node("ReduceMean", List.of("x"), "m", ints("axes", List.of(1L)))
                .node("Sub", List.of("x", "m"), "y")
                .output("y", "batch", 4)
                .opset(13),
            row -> map(row, (v, i) -> v - mean(row))));
  }

  private static double sumOfExp(double[] row) {
    return Arrays.stream(row).map(v -> Math.exp(v - max(row))).sum();
  }

  private static OnnxBuilder rmsNorm(String op) {
    return withInput(4)
        .initializer("scale", List.of(4), 1, 2, 3, 4)
        .node(op, List.of("x", "scale"), "y", attribute("epsilon", 0.25f))
        .output("y", "batch", 4);
  }

  private static double[] rmsNormed(double[] row) {
    return map(row, (v, i) -> v / Math.sqrt(square(row) / 4 + 0.25) * (i + 1));
  }

  private static OnnxBuilder compare(String op) {
    return withInput(4)
        .initializer("c", List.of(4), -2.5f, 0, 0.25f, 1.5f)
        .node(op, List.of("x", "c"), "b")
        .node("Cast", List.of("b"), "y", attribute("to", OnnxBuilder.FLOAT))
        .output("y", "batch", 4);
  }

  private interface Comparison {
    boolean of(double a, double b);
  }

  private static UnaryOperator<double[]> truth(Comparison comparison) {
    double[] c = {-2.5, 0, 0.25, 1.5};
    return row -> map(row, (v, i) -> comparison.of(v, c[i]) ? 1 : 0);
  }

  @TestFactory
  Stream<DynamicTest> comparisonsAndChoices() {
    return Stream.of(
        rows("Greater", compare("Greater"), truth((a, b) -> a > b)),
        rows("GreaterOrEqual", compare("GreaterOrEqual"), truth((a, b) -> a >= b)),
        rows("Less", compare("Less"), truth((a, b) -> a < b)),
        rows("LessOrEqual", compare("LessOrEqual"), truth((a, b) -> a <= b)),
        rows("Equal", compare("Equal"), truth((a, b) -> a == b)),
        rows(
            "Where",
            withInput(4)
                .initializer("zero", List.of(), 0)
                .initializer("two", List.of(1, 4), 1, 2, 3, 4)
                .node("Greater", List.of("x", "zero"), "positive")
                .node("Less", List.of("x", "two"), "small")
                .node("And", List.of("positive", "small"), "both")
                .node("Not", List.of("both"), "other")
                .node("Neg", List.of("x"), "n")
                .node("Where", List.of("other", "n", "two"), "y")
                .output("y", "batch", 4),
            row -> map(row, (v, i) -> v > 0 && v < i + 1 ? i + 1 : -v)),
        rows(
            "Pow of two computed",
            withInput(4)
                .node("Abs", List.of("x"), "a")
                .node("Sigmoid", List.of("x"), "s")
                .node("Pow", List.of("a", "s"), "y")
                .output("y", "batch", 4),
            row -> map(row, (v, i) -> Math.pow(Math.abs(v), sigmoid(v)))),
        rows(
            "Xor and Or",
            withInput(4)
                .initializer("zero", List.of(), 0)
                .initializer("one", List.of(), 1)
                .node("Greater", List.of("x", "zero"), "a")
                .node("Greater", List.of("x", "one"), "b")
                .node("Xor", List.of("a", "b"), "c")
                .node("Or", List.of("c", "b"), "d")
                .node("Where", List.of("d", "one", "zero"), "y")
                .output("y", "batch", 4),
            row -> map(row, (v, i) -> v > 0 ? 1 : 0)));
  }

  @TestFactory
  Stream<DynamicTest> features() {
    Message last = attribute("axis", 1);
    return Stream.of(
        rows(
            "Split",
            withInput(4)
                .node("Split", "s", List.of("x"), List.of("a", "b"), last)
                .node("Mul", List.of("a", "b"), "y")
                .output("y", "batch", 2),
            row -> new double[] {row[0] * row[2], row[1] * row[3]}),
        rows(
            "Split into given parts",
            withInput(4)
                .ints("parts", 1, 3)
                .node("Split", "s", List.of("x", "parts"), List.of("a", "b"), last)
                .node("Add", List.of("b", "a"), "y")
                .output("y", "batch", 3),
            row -> new double[] {row[1] + row[0], row[2] + row[0], row[3] + row[0]}),
        rows(
            "Slice with a step from the end",
            withInput(4)
                .ints("from", -1)
                .ints("to", Long.MIN_VALUE)
                .ints("axis", 1)
                .ints("step", -2)
                .node("Slice", List.of("x", "from", "to", "axis", "step"), "y")
                .output("y", "batch", 2),
            row -> new double[] {row[3], row[1]}),
        rows(
            "Gather of several and one",
            withInput(4)
                .ints("several", 2, 0, -1)
                .initializer(
                    OnnxBuilder.tensor("one", OnnxBuilder.INT64, List.of())
                        .bytes(7, new Message().raw(1).build()))
                .node("Gather", List.of("x", "several"), "a", last)
                .node("Gather", List.of("x", "one"), "b", last)
                .ints("axis", -1)
                .node("Unsqueeze", List.of("b", "axis"), "c")
                .node("Concat", List.of("a", "c"), "y", attribute("axis", -1))
                .output("y", "batch", 4),
            row -> new double[] {row[2], row[0], row[3], row[1]}),
        rows(
            "Concat with a constant",
            withInput(4)
                .initializer("c", List.of(1, 2), 7, 8)
                .node("Concat", List.of("c", "x"), "y", last)
                .output("y", "batch", 6),
            row -> DoubleStream.concat(DoubleStream.of(7, 8), DoubleStream.of(row)).toArray()),
        rows(
            "Expand",
            withInput(4)
                .ints("axes", 1)
                .ints("shape", 1, 3)
                .node("ReduceSum", List.of("x", "axes"), "s")
                .node("Expand", List.of("s", "shape"), "y")
                .output("y", "batch", 3),
            row -> new double[] {4 * mean(row), 4 * mean(row), 4 * mean(row)}),
        rows(
            "groups of features",
            withInput(4)
                .ints("pairs", 0, 2, 2)
                .ints("flat", 0, -1)
                .node("Reshape", List.of("x", "pairs"), "p")
                .node("Transpose", List.of("p"), "t", ints("perm", List.of(0L, 2L, 1L)))
                .node("Reshape", List.of("t", "flat"), "y")
                .output("y", "batch", 4),
            row -> new double[] {row[0], row[2], row[1], row[3]}),
        rows(
            "broadcasting within the features",
            withInput(4)
                .ints("pairs", 0, 2, 2)
                .initializer("c", List.of(2, 1), 10, 100)
                .ints("flat", -1, 4)
                .node("Reshape", List.of("x", "pairs"), "p")
                .node("Mul", List.of("p", "c"), "m")
                .node("Reshape", List.of("m", "flat"), "y")
                .output("y", "batch", 4),
            row -> new double[] {10 * row[0], 10 * row[1], 100 * row[2], 100 * row[3]}));
  }
}
