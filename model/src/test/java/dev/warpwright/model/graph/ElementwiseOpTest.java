package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElementwiseOpTest {
  private static final double INF = Double.POSITIVE_INFINITY;

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

  @Test
  void hasTheLimitsOfItsFunctions() {
    for (ElementwiseOp op : new ElementwiseOp[] {ElementwiseOp.GELU, ElementwiseOp.GELU_TANH}) {
      assertThat(op.apply(INF, 0)).isEqualTo(INF);
      assertThat(op.apply(-INF, 0)).isEqualTo(-0.0);
      assertThat(op.apply(1e200, 0)).isEqualTo(1e200);
      assertThat(op.apply(-1e200, 0)).isEqualTo(-0.0);
    }
    assertThat(ElementwiseOp.SIGMOID.apply(INF, 0)).isEqualTo(1);
    assertThat(ElementwiseOp.SIGMOID.apply(-INF, 0)).isEqualTo(0);
    assertThat(ElementwiseOp.SIGMOID.apply(-800, 0)).isEqualTo(0);
  }

  @Test
  void keepsTheTailOfGelu() {
    // −8/2 · erfc(8/√2); by 1 + erf(−8/√2) it would be 2 % off
    assertThat(ElementwiseOp.GELU.apply(-8, 0)).isEqualTo(-4.9767684594174555e-15, within(1e-28));
    assertThat(ElementwiseOp.GELU_TANH.apply(1, 0)).isEqualTo(0.8411919906082768, within(1e-15));
  }
}
