package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Pointwise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GraphSimplifierTest {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("batch"));

  private final Value x = value("x");
  private final List<Node> nodes = new ArrayList<>();

  private static Value value(String name) {
    return new Value(name, DType.F32, 2, ROWS);
  }

  private static ConstantTensor vector(double a, double b) {
    return ConstantTensor.ofDoubles("v", DType.F32, List.of(2L), a, b);
  }

  private Value apply(Pointwise op, Object... operands) {
    List<Operand> converted = new ArrayList<>();
    for (Object operand : operands) {
      converted.add(
          switch (operand) {
            case Value v -> new Operand.OfValue(v);
            case ConstantTensor t -> new Operand.OfTensor(t);
            default ->
                new Operand.OfTensor(
                    ConstantTensor.ofDoubles(
                        "c", DType.F32, List.of(), ((Number) operand).doubleValue()));
          });
    }
    Value output = value("v" + nodes.size());
    nodes.add(new Elementwise(output, op, converted, "n" + nodes.size()));
    return output;
  }

  private Value linear(Value input) {
    Value output = value("v" + nodes.size());
    ConstantTensor weight = ConstantTensor.ofDoubles("w", DType.F32, List.of(2L, 2L), 1, 2, 3, 4);
    nodes.add(new Linear(output, input, weight, null, "n" + nodes.size()));
    return output;
  }

  /** Simplifies, checks that the result means the same, and lists its operators. */
  private List<String> simplify(Value... outputs) {
    Graph before = new Graph("g", List.of(x), List.of(outputs), nodes);
    Graph after = GraphSimplifier.simplify(before);
    double[] data = {-1.5, 0.25, 3, -0.125};
    List<double[]> expected = GraphEvaluator.evaluate(before, 2, List.of(data));
    List<double[]> actual = GraphEvaluator.evaluate(after, 2, List.of(data));
    for (int i = 0; i < expected.size(); i++) {
      assertThat(actual.get(i)).containsExactly(expected.get(i), within(1e-6));
    }
    assertThat(after.outputs()).isEqualTo(before.outputs());
    assertThat(GraphSimplifier.simplify(after)).as("twice").isSameAs(after);
    return after.nodes().stream().map(Node::op).toList();
  }

  private Value onePlusErf(Object divisor) {
    Value scaled = apply(ElementwiseOp.DIV, x, divisor);
    return apply(ElementwiseOp.ADD, 1, apply(Activation.ERF, scaled));
  }

  @Test
  void recognisesGeluInAnyOrder() {
    Value erf = onePlusErf(Math.sqrt(2));
    Value a = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, x, erf), 0.5);
    Value b = apply(ElementwiseOp.MUL, x, apply(ElementwiseOp.MUL, 0.5, erf));
    Value c = apply(ElementwiseOp.MUL, erf, apply(ElementwiseOp.MUL, x, 0.5));
    assertThat(simplify(a, b, c)).containsExactly("gelu", "gelu", "gelu");
  }

  @Test
  void recognisesGeluWithTheReciprocal() {
    Value scaled = apply(ElementwiseOp.MUL, x, Math.sqrt(0.5));
    Value erf = apply(ElementwiseOp.ADD, apply(Activation.ERF, scaled), 1);
    Value y = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, x, erf), 0.5);
    assertThat(simplify(y)).containsExactly("gelu");
  }

  @Test
  void recognisesGeluOfAProduct() {
    Value p = apply(ElementwiseOp.MUL, x, vector(2, 3));
    Value scaled = apply(ElementwiseOp.DIV, p, Math.sqrt(2));
    Value erf = apply(ElementwiseOp.ADD, apply(Activation.ERF, scaled), 1);
    Value y = apply(ElementwiseOp.MUL, p, apply(ElementwiseOp.MUL, 0.5, erf));
    assertThat(simplify(y)).containsExactly("mul", "gelu");
  }

  @Test
  void recognisesTheTanhForm() {
    Value square = apply(ElementwiseOp.MUL, x, x);
    Value a = tanhForm(apply(ElementwiseOp.MUL, 0.044715, apply(ElementwiseOp.MUL, x, square)));
    Value b = tanhForm(apply(ElementwiseOp.MUL, apply(ElementwiseOp.POW, x, 3), 0.044715));
    assertThat(simplify(a, b)).containsExactly("gelu_tanh", "gelu_tanh");
  }

  @Test
  void leavesWhatIsAlmostTheTanhForm() {
    Value wrongFactor = tanhForm(apply(ElementwiseOp.MUL, apply(ElementwiseOp.POW, x, 3), 0.0447));
    Value wrongPower = tanhForm(apply(ElementwiseOp.MUL, apply(ElementwiseOp.POW, x, 2), 0.044715));
    Value cosine = apply(Activation.COS, x);
    Value otherValue =
        tanhForm(apply(ElementwiseOp.MUL, apply(ElementwiseOp.POW, cosine, 3), 0.044715));
    assertThat(simplify(wrongFactor, wrongPower, otherValue)).doesNotContain("gelu_tanh");
  }

  private Value tanhForm(Value cube) {
    Value sum = apply(ElementwiseOp.ADD, x, cube);
    Value inner = apply(ElementwiseOp.MUL, Math.sqrt(2 / Math.PI), sum);
    Value gate = apply(ElementwiseOp.ADD, 1, apply(Activation.TANH, inner));
    return apply(ElementwiseOp.MUL, 0.5, apply(ElementwiseOp.MUL, x, gate));
  }

  @Test
  void leavesWhatIsAlmostGelu() {
    Value wrongScale = onePlusErf(1.41);
    Value a = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, x, wrongScale), 0.5);
    Value erf = onePlusErf(Math.sqrt(2));
    Value b = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, x, erf), 0.25);
    Value other = apply(Activation.SIN, x);
    Value c = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, other, erf), 0.5);
    assertThat(simplify(a, b, c)).doesNotContain("gelu");
  }

  @Test
  void keepsPartsOfGeluThatAreUsedElsewhere() {
    Value erf = onePlusErf(Math.sqrt(2));
    Value y = apply(ElementwiseOp.MUL, apply(ElementwiseOp.MUL, x, erf), 0.5);
    assertThat(simplify(y, erf)).containsExactly("div", "erf", "add", "gelu");
  }

  @Test
  void mergesAVectorIntoTheBias() {
    Value y = apply(ElementwiseOp.ADD, vector(5, 6), linear(x));
    assertThat(simplify(y)).containsExactly("linear");
  }

  @Test
  void mergesVectorsOnlyWhereNothingElseReadsTheLayer() {
    Value shared = linear(x);
    Value a = apply(ElementwiseOp.ADD, shared, vector(5, 6));
    Value second = apply(ElementwiseOp.ADD, linear(x), vector(5, 6));
    Value b = apply(ElementwiseOp.ADD, second, vector(7, 8));
    Value c = apply(ElementwiseOp.ADD, linear(x), 3);
    Value d = apply(ElementwiseOp.MUL, linear(x), vector(2, 3));
    assertThat(simplify(a, shared, b, c, d))
        .containsExactly("linear", "add", "linear", "linear", "add", "linear");
  }

  @Test
  void mergesVectorsIntoLayerNormInTheRightOrder() {
    Value scaledThenShifted = apply(ElementwiseOp.ADD, scale(norm()), vector(5, 6));
    Value shiftedThenScaled = scale(apply(ElementwiseOp.ADD, norm(), vector(5, 6)));
    assertThat(simplify(scaledThenShifted, shiftedThenScaled))
        .containsExactly("layer_norm", "layer_norm", "mul");
  }

  private Value norm() {
    Value output = value("v" + nodes.size());
    nodes.add(new LayerNorm(output, x, null, null, 1e-3, "n"));
    return output;
  }

  private Value scale(Value v) {
    return apply(ElementwiseOp.MUL, v, vector(2, 3));
  }

  /** Looking for patterns must not take a time or a stack that grows with the depth. */
  @Test
  void copesWithLongProducts() {
    Value y = onePlusErf(Math.sqrt(2));
    for (int i = 0; i < 50_000; i++) {
      y = apply(ElementwiseOp.MUL, y, y);
    }
    assertThat(simplify(y)).hasSize(50_003);
  }

  @Test
  void dropsWhatNobodyNeeds() {
    Value y = apply(Activation.SIN, x);
    apply(Activation.COS, linear(y));
    assertThat(simplify(y)).containsExactly("sin");
  }
}
