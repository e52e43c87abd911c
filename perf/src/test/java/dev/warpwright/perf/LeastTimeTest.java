package dev.warpwright.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LeastTimeTest {
  @Test
  void theLongerOfOperationsAndBytesDecides() {
    assertThat(LeastTime.of(2e9, 1e12, 1e6, 1e12))
        .isEqualTo(new LeastTime(2000, LeastTime.By.OPERATIONS));
    assertThat(LeastTime.of(2e6, 1e12, 1e9, 1e12))
        .isEqualTo(new LeastTime(1000, LeastTime.By.BYTES));
  }

  @Test
  void unknownRatesDecideNothing() {
    assertThat(LeastTime.of(2e9, Double.POSITIVE_INFINITY, 1e6, 1e12))
        .isEqualTo(new LeastTime(1, LeastTime.By.BYTES));
    assertThat(LeastTime.of(2e6, 1e12, 1e9, Double.POSITIVE_INFINITY).by())
        .isEqualTo(LeastTime.By.OPERATIONS);
    assertThat(LeastTime.UNKNOWN.isKnown()).isFalse();
  }
}
