package dev.warpwright.model.onnx;

import static dev.warpwright.model.onnx.OnnxBuilder.attribute;
import static dev.warpwright.model.onnx.OnnxBuilder.withInput;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Dim;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.model.graph.GraphEvaluator;
import dev.warpwright.model.graph.GraphSimplifier;
import dev.warpwright.model.graph.LayerNorm;
import dev.warpwright.model.graph.Linear;
import dev.warpwright.model.graph.Node;
import dev.warpwright.model.onnx.OnnxBuilder.Message;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What each ONNX operator becomes, checked by evaluating the imported graph. */
class OnnxImporterTest {

  static Graph load(OnnxBuilder builder) {
    return OnnxImporter.importModel("m.onnx", MemorySegment.ofArray(builder.build()));
  }

  static double[] run(OnnxBuilder builder, int rows, double... x) {
    Graph graph = load(builder);
    double[] y = GraphEvaluator.evaluate(graph, rows, List.of(x)).getFirst();
    Graph simple = GraphSimplifier.simplify(graph);
    assertThat(GraphEvaluator.evaluate(simple, rows, List.of(x)).getFirst())
        .as("the simplified graph")
        .containsExactly(y, within(1e-7));
    return y;
  }

  static List<String> ops(Graph graph) {
    return graph.nodes().stream().map(Node::op).toList();
  }

  static Stream<Arguments> unary() {
    return Stream.of(
        unary("Abs", Math::abs),
        unary("Cos", Math::cos),
        unary("Exp", Math::exp),
        unary("Log", Math::log),
        unary("Neg", x -> -x),
        unary("Reciprocal", x -> 1 / x),
        unary("Relu", x -> x > 0 ? x : 0),
        unary("Sigmoid", x -> 1 / (1 + Math.exp(-x))),
        unary("Sin", Math::sin),
        unary("Sqrt", Math::sqrt),
        unary("Tanh", Math::tanh),
        unary("Identity", x -> x));
  }

  private static Arguments unary(String op, DoubleUnaryOperator meaning) {
    return Arguments.of(op, meaning);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("unary")
  void importsUnaryOperators(String op, DoubleUnaryOperator meaning) {
    double[] x = {-2.5, -0.5, 0.25, 3};
    double[] y = run(withInput(2).node(op, List.of("x"), "y").output("y", "batch", 2), 2, x);
    for (int i = 0; i < x.length; i++) {
      assertThat(y[i]).isEqualTo(meaning.applyAsDouble(x[i]), within(1e-15));
    }
  }

  @Test
  void importsErfAndBothGelus() {
    double[] erf = run(withInput(1).node("Erf", List.of("x"), "y").output("y", "b", 1), 1, 0.5);
    assertThat(erf[0]).isEqualTo(0.5204998778130465, within(1e-15));
    double[] gelu = run(withInput(1).node("Gelu", List.of("x"), "y").output("y", "b", 1), 1, 0.5);
    assertThat(gelu[0]).isEqualTo(0.34573123063700656, within(1e-15));
    Message tanh = attribute("approximate", "tanh");
    double[] approximate =
        run(withInput(1).node("Gelu", List.of("x"), "y", tanh).output("y", "b", 1), 1, 0.5);
    assertThat(approximate[0]).isEqualTo(0.345714, within(1e-6));
  }

  @Test
  void broadcastsConstantsFromEitherSide() {
    OnnxBuilder left =
        withInput(2)
            .initializer("c", List.of(), 1)
            .node("Sub", List.of("c", "x"), "y")
            .output("y", "batch", 2);
    assertThat(run(left, 1, 3, 4)).containsExactly(-2, -3);
    OnnxBuilder right =
        withInput(2)
            .initializer("c", List.of(1, 2), 2, 4)
            .node("Div", List.of("x", "c"), "y")
            .output("y", "batch", 2);
    assertThat(run(right, 2, 3, 4, 5, 6)).containsExactly(1.5, 1, 2.5, 1.5);
  }

  @Test
  void importsPowersWithAnExponentOfAnotherType() {
    OnnxBuilder builder =
        withInput(1)
            .initializer(
                OnnxBuilder.tensor("e", OnnxBuilder.INT64, List.of())
                    .bytes(7, new Message().raw(3).build()))
            .node("Pow", List.of("x", "e"), "y")
            .output("y", "b", 1);
    assertThat(run(builder, 2, 2, -3)).containsExactly(8, -27);
  }

  @Test
  void importsMinAndMaxOfSeveral() {
    OnnxBuilder builder =
        withInput(1)
            .initializer("six", List.of(), 6)
            .initializer("zero", List.of(), 0)
            .node("Relu", List.of("x"), "r")
            .node("Min", List.of("x", "r", "six"), "m")
            .node("Max", List.of("m", "zero"), "y")
            .output("y", "b", 1);
    assertThat(run(builder, 3, -1, 3, 9)).containsExactly(0, 3, 6);
  }

  @Test
  void importsGemmWithTransposition() {
    OnnxBuilder stored =
        withInput(3)
            .initializer("w", List.of(2, 3), 1, 2, 3, 4, 5, 6)
            .initializer("b", List.of(2), 10, 20)
            .node("Gemm", List.of("x", "w", "b"), "y", attribute("transB", 1))
            .output("y", "batch", 2);
    assertThat(run(stored, 1, 1, 10, 100)).containsExactly(331, 674);
    OnnxBuilder transposed =
        withInput(3)
            .initializer("w", List.of(3, 2), 1, 4, 2, 5, 3, 6)
            .initializer("b", List.of(), 10)
            .node("Gemm", List.of("x", "w", "b"), "y")
            .output("y", "batch", 2);
    assertThat(run(transposed, 1, 1, 10, 100)).containsExactly(331, 664);
    Linear linear = (Linear) load(transposed).nodes().getFirst();
    assertThat(linear.weight().toFloats()).containsExactly(1, 2, 3, 4, 5, 6);
    assertThat(linear.weight().shape()).containsExactly(2L, 3L);
  }

  @Test
  void importsGemmWithFactors() {
    OnnxBuilder constant =
        withInput(1)
            .initializer("w", List.of(2, 1), 1, 2)
            .initializer("b", List.of(1, 2), 10, 20)
            .node(
                "Gemm",
                List.of("x", "w", "b"),
                "y",
                attribute("transB", 1),
                attribute("alpha", 0.5f),
                attribute("beta", 3f))
            .output("y", "batch", 2);
    assertThat(run(constant, 1, 4)).containsExactly(32, 64);
    OnnxBuilder computed =
        withInput(2)
            .initializer("w", List.of(2, 2), 1, 0, 0, 1)
            .node("Gemm", List.of("x", "w", "x"), "y", attribute("beta", 2f))
            .output("y", "batch", 2);
    assertThat(run(computed, 1, 1, 2)).containsExactly(3, 6);
    OnnxBuilder alphaOnly =
        withInput(1)
            .initializer("w", List.of(1, 1), 5)
            .node("Gemm", List.of("x", "w"), "y", attribute("alpha", 2f))
            .output("y", "batch", 1);
    assertThat(run(alphaOnly, 1, 1)).containsExactly(10);
    OnnxBuilder noBias =
        withInput(1)
            .initializer("w", List.of(1, 1), 5)
            .initializer("b", List.of(1), Float.NaN)
            .node("Gemm", List.of("x", "w", "b"), "y", attribute("beta", 0f))
            .output("y", "batch", 1);
    assertThat(run(noBias, 1, 1)).containsExactly(5);
  }

  @Test
  void flattensLeadingDimensionsToRows() {
    OnnxBuilder builder =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, "batch", 7, 2)
            .initializer("w", List.of(2, 1), 1, 10)
            .node("MatMul", List.of("x", "w"), "y")
            .output("y", "batch", 7, 1);
    Graph graph = load(builder);
    assertThat(graph.inputs().getFirst().leading())
        .containsExactly(new Dim.Symbolic("batch"), new Dim.Fixed(7));
    assertThat(graph.outputs().getFirst().leading()).isEqualTo(graph.inputs().getFirst().leading());
    assertThat(run(builder, 2, 1, 2, 3, 4)).containsExactly(21, 43);
    OnnxBuilder vector =
        new OnnxBuilder()
            .input("x", OnnxBuilder.FLOAT, 2)
            .initializer("w", List.of(2, 1), 1, 10)
            .node("MatMul", List.of("x", "w"), "y")
            .output("y", 1);
    assertThat(load(vector).inputs().getFirst().leading()).isEmpty();
    assertThat(run(vector, 1, 1, 2)).containsExactly(21);
  }

  @Test
  void importsLayerNormalization() {
    OnnxBuilder builder =
        withInput(2)
            .initializer("s", List.of(2), 2, 3)
            .initializer("b", List.of(2), 10, 20)
            .node(
                "LayerNormalization",
                List.of("x", "s", "b"),
                "y",
                attribute("axis", 1),
                attribute("epsilon", 3f))
            .output("y", "batch", 2);
    // mean 2, variance 1, so the deviation with epsilon is 2
    assertThat(run(builder, 1, 1, 3)).containsExactly(9, 21.5);
  }

  @ParameterizedTest
  @MethodSource("spelledOut")
  void recognisesLayerNormalizationThatIsSpelledOut(OnnxBuilder builder) {
    builder
        .initializer("s", List.of(2), 2, 3)
        .initializer("b", List.of(2), 10, 20)
        .node("Mul", List.of("normal", "s"), "scaled")
        .node("Add", List.of("scaled", "b"), "y")
        .output("y", "batch", 2);
    assertThat(run(builder, 1, 1, 3)).containsExactly(9, 21.5);
    Graph graph = GraphSimplifier.simplify(load(builder));
    assertThat(ops(graph)).containsExactly("layer_norm");
    LayerNorm norm = (LayerNorm) graph.nodes().getFirst();
    assertThat(norm.epsilon()).isEqualTo(3);
    assertThat(norm.output().name()).isEqualTo("y");
  }

  static Stream<OnnxBuilder> spelledOut() {
    OnnxBuilder byPower =
        withInput(2)
            .initializer("two", List.of(), 2)
            .initializer("eps", List.of(), 3)
            .node("ReduceMean", List.of("x"), "mean", OnnxBuilder.ints("axes", List.of(-1L)))
            .node("Sub", List.of("x", "mean"), "d")
            .node("Pow", List.of("d", "two"), "d2")
            .node("ReduceMean", List.of("d2"), "var", OnnxBuilder.ints("axes", List.of(-1L)))
            .node("Add", List.of("var", "eps"), "shifted")
            .node("Sqrt", List.of("shifted"), "dev")
            .node("Div", List.of("d", "dev"), "normal");
    OnnxBuilder byProduct =
        withInput(2)
            .opset(18)
            .ints("axes", 1)
            .initializer("eps", List.of(1), 3)
            .node("ReduceMean", List.of("x", "axes"), "mean")
            .node("Sub", List.of("x", "mean"), "d")
            .node("Mul", List.of("d", "d"), "d2")
            .node("ReduceMean", List.of("d2", "axes"), "var")
            .node("Add", List.of("eps", "var"), "shifted")
            .node("Sqrt", List.of("shifted"), "dev")
            .node("Reciprocal", List.of("dev"), "inverse")
            .node("Mul", List.of("inverse", "d"), "normal");
    return Stream.of(byPower, byProduct);
  }

  @Test
  void foldsOperatorsThatDoNothing() {
    OnnxBuilder builder =
        withInput(4)
            .ints("shape", 0, 4)
            .ints("inferred", -1, 4)
            .initializer("ratio", List.of(), 0.5f)
            .node("Identity", List.of("x"), "a")
            .node("Dropout", List.of("a", "ratio"), "b")
            .node("Flatten", List.of("b"), "c")
            .node("Reshape", List.of("c", "shape"), "d")
            .node("Reshape", List.of("d", "inferred"), "e")
            .node("Cast", List.of("e"), "f", attribute("to", OnnxBuilder.FLOAT))
            .node("Relu", List.of("f"), "g")
            .node("Identity", List.of("g"), "y")
            .output("y", "batch", 4);
    Graph graph = load(builder);
    assertThat(ops(graph)).containsExactly("relu");
    assertThat(graph.outputs().getFirst().name()).isEqualTo("y");
    assertThat(graph.nodes().getFirst().inputs()).containsExactly(graph.inputs().getFirst());
  }

  @Test
  void foldsConstants() {
    OnnxBuilder builder =
        withInput(2)
            .initializer("w", List.of(1, 2), 1, 10)
            .node("Transpose", List.of("w"), "wt", OnnxBuilder.ints("perm", List.of(1L, 0L)))
            .node(
                "Constant",
                List.of(),
                "c",
                attribute(
                    "value",
                    OnnxBuilder.tensor("", OnnxBuilder.FLOAT, List.of())
                        .bytes(9, OnnxBuilder.floats(4))))
            .node("Constant", List.of(), "three", attribute("value_int", 3))
            .node("Cast", List.of("three"), "three_f", attribute("to", OnnxBuilder.FLOAT))
            .node("Sqrt", List.of("c"), "two")
            .node("Mul", List.of("two", "three_f"), "six")
            .node("MatMul", List.of("x", "wt"), "p")
            .node("Add", List.of("p", "six"), "y")
            .output("y", "batch", 1);
    assertThat(run(builder, 1, 1, 2)).containsExactly(27);
    assertThat(ops(load(builder))).containsExactly("linear", "add");
  }

  @Test
  void keepsNamesAsTheyAre() {
    String name = "\"; }\n__global__ void f() { //'";
    OnnxBuilder builder =
        new OnnxBuilder()
            .input(name, OnnxBuilder.FLOAT, "ba\ntch", 1)
            .node("Relu", name, List.of(name), List.of("y"))
            .output("y", "batch", 1);
    Graph graph = load(builder);
    assertThat(graph.inputs().getFirst().name()).isEqualTo(name);
    assertThat(graph.nodes().getFirst().name()).isEqualTo(name);
  }

  @Test
  void acceptsInitializersListedAsInputsAndSeveralInputsAndOutputs() {
    OnnxBuilder builder =
        withInput(1)
            .input("w", OnnxBuilder.FLOAT, 1, 1)
            .input("z", OnnxBuilder.FLOAT, "batch", 1)
            .initializer("w", List.of(1, 1), 3)
            .node("MatMul", List.of("x", "w"), "p")
            .node("Mul", List.of("p", "z"), "y")
            .output("y", "batch", 1)
            .output("p", "batch", 1);
    Graph graph = load(builder);
    assertThat(graph.inputs()).hasSize(2);
    List<double[]> y =
        GraphEvaluator.evaluate(graph, 1, List.of(new double[] {2}, new double[] {5}));
    assertThat(y.get(0)).containsExactly(30);
    assertThat(y.get(1)).containsExactly(6);
  }

  @Test
  void takesTypesFromTheFile() {
    byte[] one = {(byte) 0x80, 0x3F};
    OnnxBuilder builder =
        new OnnxBuilder()
            .input("x", OnnxBuilder.BFLOAT16, "batch", 1)
            .initializer(OnnxBuilder.tensor("w", OnnxBuilder.BFLOAT16, List.of(1, 1)).bytes(9, one))
            .node("MatMul", List.of("x", "w"), "y")
            .output(OnnxBuilder.BFLOAT16, "y", "batch", 1);
    assertThat(load(builder).outputs().getFirst().dtype()).isEqualTo(DType.BF16);
    assertThat(run(builder, 1, 3)).containsExactly(3);
  }
}
