package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElementwiseOpTest {
  @ParameterizedTest
  @EnumSource
  void propagatesNan(ElementwiseOp op) {
    if (op.isTruth() || op == ElementwiseOp.WHERE) {
      return;
    }
    assertThat(op.apply(Double.NaN, 2)).isNaN();
    boolean chooses = op == ElementwiseOp.LEAKY_RELU || op == ElementwiseOp.ELU;
    if (op.arity() == 2 && !chooses) {
      assertThat(op.apply(2, Double.NaN)).isNaN();
    }
  }
}
