package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Columns;
import dev.warpwright.model.graph.Concat;
import dev.warpwright.model.graph.ConstantTensor;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Elementwise;
import dev.warpwright.model.graph.ElementwiseOp;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.graph.Operand;
import dev.warpwright.model.graph.RowReduce;
import dev.warpwright.model.graph.Value;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Each kind of node by itself and behind a product, through the whole compiler, on the CPU, on a
 * simulated GPU and in the interpreter, against the meaning of the graph.
 */
class OperatorTest {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("rows"));

  /** Neither a whole vector nor a whole granule. */
  private static final int FEATURES = 21;

  private static final int ROW_COUNT = 5;

  private final List<Node> nodes = new ArrayList<>();
  private final Random random = new Random(17);

  @TestFactory
  Stream<DynamicTest> elementwiseOperators() {
    return Stream.of(ElementwiseOp.values())
        .map(
            op ->
                test(
                    op.text(),
                    (x, y) -> {
                      List<Operand> operands = new ArrayList<>();
                      Operand other = jumps(op) ? grid() : of(y);
                      for (int i = 0; i < op.arity(); i++) {
                        operands.add(i == 1 ? other : of(x));
                      }
                      return elementwise(op, FEATURES, operands);
                    }));
  }

  @TestFactory
  Stream<DynamicTest> choices() {
    return Stream.of(
        test("where", (x, y) -> choose(unary(ElementwiseOp.FLOOR, x), y, x)),
        test("where of a comparison", (x, y) -> choose(compare(ElementwiseOp.LESS, x), y, x)),
        test(
            "where of logic",
            (x, y) -> {
              Value less = compare(ElementwiseOp.LESS, x);
              Value same = compare(ElementwiseOp.EQUAL, x);
              Value either = elementwise(ElementwiseOp.OR, FEATURES, List.of(of(less), of(same)));
              return choose(unary(ElementwiseOp.NOT, either), y, x);
            }),
        test(
            "a comparison that is multiplied",
            (x, y) -> linear(compare(ElementwiseOp.GREATER_EQUAL, x), 9)));
  }

  /** Whether a small error of an operand may change the result a lot. */
  private static boolean jumps(Pointwise op) {
    return op.isTruth() || op == ElementwiseOp.FLOOR || op == ElementwiseOp.CEIL;
  }

  private Value compare(Pointwise op, Value x) {
    return elementwise(op, FEATURES, List.of(of(x), grid()));
  }

  private Value choose(Value condition, Value then, Value otherwise) {
    return elementwise(
        ElementwiseOp.WHERE, FEATURES, List.of(of(condition), of(then), of(otherwise)));
  }

  /** Numbers as the input has them, exact in every precision. */
  private Operand grid() {
    double[] values = new double[FEATURES];
    Arrays.setAll(values, i -> (2 + random.nextInt(16)) / 8.0);
    return new Operand.OfTensor(
        ConstantTensor.ofDoubles("grid", DType.F32, List.of((long) FEATURES), values));
  }

  @TestFactory
  Stream<DynamicTest> operandsOfEachKind() {
    return Stream.of(
            ElementwiseOp.SUB, ElementwiseOp.WHERE, ElementwiseOp.POW, ElementwiseOp.LEAKY_RELU)
        .flatMap(
            op ->
                Stream.of(
                    test(
                        op.text() + " of scalars",
                        (x, y) -> elementwise(op, FEATURES, operands(op, y, scalar(1.5)))),
                    test(
                        op.text() + " of vectors",
                        (x, y) -> elementwise(op, FEATURES, operands(op, y, vector(FEATURES)))),
                    test(
                        op.text() + " of one feature",
                        (x, y) ->
                            elementwise(
                                op, FEATURES, operands(op, y, of(slice(x, FEATURES - 1, 1))))),
                    test(
                        op.text() + " of a product of one feature",
                        (x, y) -> elementwise(op, FEATURES, operands(op, y, of(linear(x, 1)))))));
  }

  @TestFactory
  Stream<DynamicTest> reductions() {
    return Stream.of(RowReduce.Kind.values())
        .flatMap(
            kind ->
                Stream.of(
                    test(kind + " as output", (x, y) -> reduce(kind, y)),
                    test(
                        kind + " of a formula",
                        (x, y) ->
                            elementwise(
                                ElementwiseOp.SUB,
                                FEATURES,
                                List.of(of(x), of(reduce(kind, unary(ElementwiseOp.EXP, y))))))));
  }

  @TestFactory
  Stream<DynamicTest> choicesOfFeatures() {
    return Stream.of(
        test("slice", (x, y) -> slice(y, 3, 11)),
        test("slice of the input", (x, y) -> slice(x, 3, 11)),
        test("slice and product", (x, y) -> linear(slice(y, 3, 16), 7)),
        test("every second", (x, y) -> columns(y, 0, 2, 4, 6, 8, 10)),
        test("backwards", (x, y) -> columns(y, 20, 18, 16, 14)),
        test("the same again and again", (x, y) -> columns(y, 5, 5, 5)),
        test("any", (x, y) -> columns(y, 7, 7, 0, 20, 3)),
        test("concat", (x, y) -> concat(y, x, slice(y, 1, 5))),
        test("concat of one feature", (x, y) -> concat(linear(x, 1), y)),
        test("concat of computed", (x, y) -> concat(unary(Activation.TANH, y), x, y)),
        test("concat and product", (x, y) -> linear(concat(x, y, x), 33)),
        test("concat of sums", (x, y) -> concat(reduce(RowReduce.Kind.SUM, y), x)),
        test(
            "halves that gate",
            (x, y) -> {
              Value both = linear(y, 32);
              return elementwise(
                  ElementwiseOp.MUL,
                  16,
                  List.of(
                      of(slice(both, 0, 16)), of(unary(Activation.SIGMOID, slice(both, 16, 16)))));
            }));
  }

  /** What is to be tested, of the input and of a product of it. */
  private interface Network {
    Value of(Value x, Value y);
  }

  private DynamicTest test(String name, Network network) {
    return DynamicTest.dynamicTest(name, () -> check(network));
  }

  private void check(Network network) {
    nodes.clear();
    Value x = value(FEATURES);
    Value y = linear(x, FEATURES);
    Graph graph = new Graph("test", List.of(x), List.of(network.of(x, y)), nodes);
    float[] input = new float[ROW_COUNT * FEATURES];
    for (int i = 0; i < input.length; i++) {
      // Positive, so that every function is defined, and exact in every precision.
      input[i] = (2 + random.nextInt(16)) / 8f;
    }
    double[] wide = new double[input.length];
    for (int i = 0; i < input.length; i++) {
      wide[i] = input[i];
    }
    double[] expected = GraphEvaluator.evaluate(graph, ROW_COUNT, List.of(wide)).getFirst();
    double[] reference = new Reference(graph).outputs(ROW_COUNT, List.of(input)).getFirst();
    assertThat(error(reference, expected)).as("interpreter").isLessThan(1e-6);
    try (Device cpu = new CpuDevice()) {
      assertRight(graph, cpu, Precision.F32, input, expected);
      assertRight(graph, cpu, Precision.BF16, input, expected);
    }
    Device gpu = new SimulatedDevice(GpuTarget.SM_90A);
    assertRight(graph, gpu, Precision.F32, input, expected);
    assertRight(graph, gpu, Precision.F16, input, expected);
  }

  private static void assertRight(
      Graph graph, Device device, Precision precision, float[] input, double[] expected) {
    try (CompiledModel model = new CompiledModel(graph, device, precision)) {
      float[] y = model.run(input);
      double[] actual = new double[y.length];
      for (int i = 0; i < y.length; i++) {
        actual[i] = y[i];
      }
      assertThat(error(actual, expected))
          .as(device.name() + " in " + precision.text())
          .isLessThan(precision.tolerance());
      assertThat(model.executable(ROW_COUNT).findings()).isEmpty();
    }
  }

  private static double error(double[] y, double[] expected) {
    assertThat(y).hasSameSizeAs(expected);
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < y.length; i++) {
      difference += (y[i] - expected[i]) * (y[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    return norm == 0 ? Math.sqrt(difference) : Math.sqrt(difference / norm);
  }

  private static List<Operand> operands(Pointwise op, Value first, Operand other) {
    List<Operand> operands = new ArrayList<>(List.of(of(first)));
    while (operands.size() < op.arity()) {
      operands.add(other);
    }
    return operands;
  }

  private static Operand of(Value value) {
    return new Operand.OfValue(value);
  }

  private Operand scalar(double value) {
    return new Operand.OfTensor(ConstantTensor.ofDoubles("scalar", DType.F32, List.of(), value));
  }

  private Operand vector(int features) {
    return new Operand.OfTensor(tensor(1, (long) features));
  }

  private Value value(int features) {
    return new Value("v" + nodes.size(), DType.F32, features, ROWS);
  }

  /** Of positive numbers, so that its output is positive too. */
  private Value linear(Value x, int features) {
    Value y = value(features);
    ConstantTensor weight = tensor(1.0 / x.features(), (long) features, (long) x.features());
    nodes.add(new Linear(y, x, weight, tensor(0.5, (long) features), "linear"));
    return y;
  }

  private Value unary(Pointwise op, Value x) {
    return elementwise(op, x.features(), List.of(of(x)));
  }

  private Value elementwise(Pointwise op, int features, List<Operand> operands) {
    Value y = value(features);
    nodes.add(new Elementwise(y, op, operands, op.text()));
    return y;
  }

  private Value reduce(RowReduce.Kind kind, Value x) {
    Value y = value(1);
    nodes.add(new RowReduce(y, x, kind, "reduce"));
    return y;
  }

  private Value slice(Value x, int first, int count) {
    Value y = value(count);
    nodes.add(Columns.slice(y, x, first, "slice"));
    return y;
  }

  private Value columns(Value x, int... sources) {
    Value y = value(sources.length);
    nodes.add(new Columns(y, x, sources, "columns"));
    return y;
  }

  private Value concat(Value... parts) {
    Value y = value(Stream.of(parts).mapToInt(Value::features).sum());
    nodes.add(new Concat(y, List.of(parts), "concat"));
    return y;
  }

  private ConstantTensor tensor(double bound, Long... shape) {
    List<Long> extents = List.of(shape);
    double[] values = new double[(int) ConstantTensor.elementCount(extents)];
    for (int i = 0; i < values.length; i++) {
      values[i] = bound * random.nextDouble();
    }
    return ConstantTensor.ofDoubles("constant", DType.F32, extents, values);
  }
}
