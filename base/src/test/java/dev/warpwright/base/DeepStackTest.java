package dev.warpwright.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class DeepStackTest {
  private static int depth(int n) {
    return n == 0 ? 0 : 1 + depth(n - 1);
  }

  /** Wide frames, for unwinding takes time by their number and the stack is as large either way. */
  @SuppressWarnings({"InfiniteRecursion", "TooManyParameters"}) // that is the point
  private static double endless(
      double a,
      double b,
      double c,
      double d,
      double e,
      double f,
      double g,
      double h,
      double i,
      double j,
      double k,
      double l,
      double m,
      double n,
      double o,
      double p,
      double q,
      double r,
      double s,
      double t,
      double u,
      double v,
      double w,
      double x,
      double y,
      double z) {
    return endless(b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a + 1)
        + a;
  }

  @Test
  void hasRoomForDeepTrees() {
    assertThat(DeepStack.<Integer>call(() -> depth(500_000))).isEqualTo(500_000);
  }

  @Test
  void staysOnTheThreadItHas() {
    Boolean same =
        DeepStack.call(() -> DeepStack.call(Thread::currentThread) == Thread.currentThread());
    assertThat(same).isTrue();
  }

  @Test
  void refusesWhatIsDeeper() {
    assertThatThrownBy(
            () ->
                DeepStack.<Double>call(
                    () ->
                        endless(
                            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                            20, 21, 22, 23, 24, 25)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("nested too deeply");
  }

  @Test
  void throwsWhatTheWorkThrows() {
    IllegalStateException thrown = new IllegalStateException("x");
    assertThatThrownBy(
            () ->
                DeepStack.<Integer>call(
                    () -> {
                      throw thrown;
                    }))
        .isSameAs(thrown);
  }
}
