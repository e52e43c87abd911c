package dev.warpwright.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.base.UserError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ActivationTest {
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final double STEP = 0x1p-12;

  @ParameterizedTest
  @EnumSource
  void keepsNan(Activation activation) {
    assertThat(activation.at(Double.NaN)).isNaN();
  }

  /** The bound holds, and is not so wide that it would hide an error. */
  @ParameterizedTest
  @EnumSource
  void boundsTheSlope(Activation activation) {
    double steepest = 0;
    for (double x = -30; x < 30; x += STEP) {
      double slope = Math.abs(activation.at(x + STEP) - activation.at(x)) / STEP;
      steepest = Math.max(steepest, slope);
    }
    assertThat(steepest).isBetween(0.97 * activation.slope(), activation.slope() + 1e-9);
  }

  @Test
  void hasTheLimitsOfItsFunctions() {
    for (Activation gelu : new Activation[] {Activation.GELU, Activation.GELU_TANH}) {
      assertThat(gelu.at(INF)).isEqualTo(INF);
      assertThat(gelu.at(-INF)).isEqualTo(-0.0);
      assertThat(gelu.at(1e200)).isEqualTo(1e200);
      assertThat(gelu.at(-1e200)).isEqualTo(-0.0);
    }
    assertThat(Activation.SIGMOID.at(INF)).isEqualTo(1);
    assertThat(Activation.SIGMOID.at(-INF)).isEqualTo(0);
    assertThat(Activation.SIGMOID.at(-800)).isEqualTo(0);
  }

  @Test
  void keepsTheTailOfGelu() {
    // −8/2 · erfc(8/√2); by 1 + erf(−8/√2) it would be 2 % off
    assertThat(Activation.GELU.at(-8)).isEqualTo(-4.9767684594174555e-15, within(1e-28));
    assertThat(Activation.GELU.at(1)).isEqualTo(0.8413447460685429, within(1e-15));
    assertThat(Activation.GELU_TANH.at(1)).isEqualTo(0.8411919906082768, within(1e-15));
  }

  @Test
  void namesArePyTorchs() {
    assertThat(Activation.parse("gelu_tanh")).isEqualTo(Activation.GELU_TANH);
    assertThatThrownBy(() -> Activation.parse("swish"))
        .isInstanceOf(UserError.class)
        .hasMessage("act=swish: it is one of " + Activation.names());
  }
}
