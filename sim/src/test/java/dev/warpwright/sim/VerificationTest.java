package dev.warpwright.sim;

import static org.assertj.core.api.Assertions.assertThat;

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
}
