package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
import dev.warpwright.workload.Activation;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The rules of a graph hold by construction. */
class GraphTest {
  private static final List<Dim> ROWS = List.of(new Dim.Symbolic("batch"));

  private static Value value(String name, int features) {
    return new Value(name, DType.F32, features, ROWS);
  }

  private static Elementwise relu(Value output, Value input) {
    return new Elementwise(output, Activation.RELU, List.of(new Operand.OfValue(input)), "relu");
  }

  @Test
  void refusesGraphsThatCannotBeComputed() {
    Value x = value("x", 2);
    Value y = value("y", 2);
    Value z = value("z", 2);
    refused(() -> new Graph("g", List.of(), List.of(y), List.of()), "needs an input");
    refused(() -> new Graph("g", List.of(x), List.of(x), List.of()), "computed by no node");
    refused(
        () -> new Graph("g", List.of(x), List.of(z), List.of(relu(z, y), relu(y, x))),
        "not computed before it");
    refused(
        () -> new Graph("g", List.of(x), List.of(y), List.of(relu(y, x), relu(y, x))),
        "defined twice");
    refused(() -> new Graph("g", List.of(x), List.of(y, y), List.of(relu(y, x))), "listed twice");
    Value other = new Value("o", DType.F32, 2, List.of(new Dim.Fixed(3)));
    refused(
        () -> new Graph("g", List.of(x), List.of(other), List.of(relu(other, x))), "other rows");
  }

  @Test
  void refusesNodesWhoseShapesDoNotFit() {
    Value x = value("x", 2);
    Value y = value("y", 3);
    ConstantTensor weight =
        ConstantTensor.ofDoubles("w", DType.F32, List.of(2L, 3L), new double[6]);
    refused(() -> new Linear(y, x, weight, null, "n"), "does not map");
    refused(() -> relu(y, x), "does not fit");
    refused(() -> new LayerNorm(y, x, null, null, 0, "n"), "does not fit");
    refused(() -> new LayerNorm(x, x, null, null, Double.NaN, "n"), "epsilon");
    refused(
        () -> new Elementwise(x, ElementwiseOp.ADD, List.of(new Operand.OfValue(x)), "n"),
        "takes 2 operands");
    refused(() -> new Operand.OfTensor(weight), "scalar or [N]");
    refused(() -> new Value("x", DType.I32, 1, ROWS), "floating point");
    refused(() -> value("x", 0), "at least one feature");
  }

  @Test
  void describesItself() {
    Value x = new Value("x", DType.BF16, 64, List.of(ROWS.getFirst(), new Dim.Fixed(7)));
    assertThat(x).hasToString("x: bf16[batch, 7, 64]");
  }

  private static void refused(ThrowingCallable action, String message) {
    assertThatThrownBy(action)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
