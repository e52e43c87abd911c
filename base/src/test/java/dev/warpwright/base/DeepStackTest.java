package dev.warpwright.base;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class DeepStackTest {
  private static int depth(int n) {
    return n == 0 ? 0 : 1 + depth(n - 1);
  }

  @SuppressWarnings("InfiniteRecursion") // that is the point
  private static int endless(int n) {
    return endless(n + 1) + 1;
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
    assertThatThrownBy(() -> DeepStack.<Integer>call(() -> endless(0)))
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
