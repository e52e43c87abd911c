package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.util.List;
import org.junit.jupiter.api.Test;

class VerificationTest {
  @Test
  void errorsAreRelativeToTheNorm() {
    Verification v = Verification.compare(new double[] {3, 4.5}, new double[] {3, 4});
    assertThat(v.relError()).isEqualTo(0.1);
    assertThat(v.maxAbsError()).isEqualTo(0.5);
    assertThat(v.worst()).isEqualTo(1);
    assertThat(v.within(0.1)).isTrue();
    assertThat(v.within(0.1, 0.4)).isFalse();
    assertThat(v.within(0.09)).isFalse();
  }

  @Test
  void aNonFiniteMismatchNeverPasses() {
    double nan = Double.NaN;
    double inf = Double.POSITIVE_INFINITY;
    assertThat(Verification.compare(new double[] {nan}, new double[] {0}).within(inf)).isFalse();
    assertThat(Verification.compare(new double[] {0}, new double[] {inf}).within(inf)).isFalse();
    assertThat(Verification.compare(new double[] {-inf}, new double[] {inf}).within(inf)).isFalse();
    assertThat(Verification.compare(new double[] {inf, nan}, new double[] {inf, nan}).within(0))
        .isTrue();
  }

  @Test
  void hugeTinyAndZeroNorms() {
    assertThat(Verification.compare(new double[] {2e300}, new double[] {1e300}).relError())
        .isEqualTo(1);
    assertThat(Verification.compare(new double[] {2e-300}, new double[] {1e-300}).relError())
        .isEqualTo(1);
    assertThat(Verification.compare(new double[] {0}, new double[] {0}).within(0)).isTrue();
    assertThat(Verification.compare(new double[] {1e-9}, new double[] {0}).within(1)).isFalse();
    assertThat(Verification.compare(new double[0], new double[0]).within(0)).isTrue();
  }

  @Test
  void oneElementOrRowIsNotLostAmongMany() {
    double[] reference = new double[10_000];
    for (int i = 0; i < reference.length; i++) {
      reference[i] = Math.sin(i) + 2;
    }
    for (DType type : List.of(DType.F32, DType.BF16)) {
      double rtol = type == DType.F32 ? 3e-6 : 2e-2;
      double[] result = new double[reference.length];
      for (int i = 0; i < result.length; i++) {
        result[i] = Numerics.round(type, reference[i]);
      }
      assertThat(Deviations.ofOrders(type, result, reference, 100, rtol).honest()).isTrue();
      result[4321] = reference[4321] * 1.2;
      assertThat(Verification.compare(result, reference).within(1e-2)).isTrue();
      assertThat(Deviations.ofOrders(type, result, reference, 100, rtol).honest()).isFalse();
      result[4321] = Double.NaN;
      assertThat(Deviations.ofOrders(type, result, reference, 100, rtol).honest()).isFalse();
    }
  }
}
