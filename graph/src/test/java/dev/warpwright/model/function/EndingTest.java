package dev.warpwright.model.function;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.function.NetworkFunction.Ending;
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
import dev.warpwright.workload.Precision;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which formulas are epilogues of the product before them. */
final class EndingTest {
  private static final int WIDTH = 16;

  private final List<Node> nodes = new ArrayList<>();
  private final Value input = value("x");

  @Test
  void biasActivationAndResidual() {
    Value y = op(ElementwiseOp.ADD, op(Activation.GELU, linear(input, true)), input);
    Ending ending = ending(y);
    assertThat(ending).isNotNull();
    assertThat(ending.epilogue().text()).isEqualTo("alpha:1.0,beta:0.0,bias:true,gelu,residual");
    assertThat(ending.accumulator().name()).isEqualTo("fc");
  }

  @Test
  void aCopyOfIt() {
    assertThat(ending(op(ElementwiseOp.IDENTITY, op(Activation.TANH, linear(input, false)))))
        .extracting(Ending::activation)
        .isEqualTo(Activation.TANH);
  }

  @Test
  void theLaterOfTwoProductsHasTheOtherAsResidual() {
    Value first = linear(input, false);
    Ending ending = ending(op(ElementwiseOp.ADD, first, linear(first, true)));
    assertThat(ending).isNotNull();
    assertThat(ending.accumulator().name()).isEqualTo("fc1");
    assertThat(ending.residual()).extracting(b -> b.name()).isEqualTo("fc");
  }

  @Test
  void nothingElse() {
    Value linear = linear(input, true);
    assertThat(ending(op(Activation.RELU, op(ElementwiseOp.ADD, linear, input)))).isNull();
    assertThat(ending(op(Activation.RELU, op(Activation.RELU, linear)))).isNull();
    assertThat(ending(op(ElementwiseOp.MUL, linear, input))).isNull();
    assertThat(ending(op(ElementwiseOp.EXP, linear))).isNull();
    assertThat(ending(op(ElementwiseOp.SUB, linear, input))).isNull();
  }

  /** Of the formula that makes the network's only output. */
  private @Nullable Ending ending(Value output) {
    Graph graph = new Graph("g", List.of(input), List.of(output), nodes);
    return NetworkBuilder.build(graph, new FunctionOptions(Precision.F16, 16, false, false))
        .stages()
        .stream()
        .filter(NetworkFunction.Map.class::isInstance)
        .map(NetworkFunction.Map.class::cast)
        .toList()
        .getLast()
        .ending();
  }

  private static Value value(String name) {
    return new Value(name, DType.F16, WIDTH, List.of(new Dim.Symbolic("rows")));
  }

  private Value linear(Value x, boolean bias) {
    Value y = value("v" + nodes.size());
    nodes.add(new Linear(y, x, tensor(WIDTH, WIDTH), bias ? tensor(WIDTH) : null, "linear"));
    return y;
  }

  private Value op(Pointwise function, Value... operands) {
    Value y = value("v" + nodes.size());
    List<Operand> all = new ArrayList<>();
    for (Value operand : operands) {
      all.add(new Operand.OfValue(operand));
    }
    nodes.add(new Elementwise(y, function, all, "op"));
    return y;
  }

  private static ConstantTensor tensor(long... shape) {
    List<Long> extents = new ArrayList<>();
    int count = 1;
    for (long extent : shape) {
      extents.add(extent);
      count *= (int) extent;
    }
    return ConstantTensor.ofDoubles("t", DType.F16, extents, new double[count]);
  }
}
