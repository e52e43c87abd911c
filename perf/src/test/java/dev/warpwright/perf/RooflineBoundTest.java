package dev.warpwright.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RooflineBoundTest {
  @Test
  void theLongerOfOperationsAndBytesDecides() {
    assertThat(RooflineBound.of(2e9, 1e12, 1e6, 1e12))
        .isEqualTo(new RooflineBound(2000, RooflineBound.By.OPERATIONS));
    assertThat(RooflineBound.of(2e6, 1e12, 1e9, 1e12))
        .isEqualTo(new RooflineBound(1000, RooflineBound.By.BYTES));
  }

  @Test
  void unknownRatesDecideNothing() {
    assertThat(RooflineBound.of(2e9, Double.POSITIVE_INFINITY, 1e6, 1e12))
        .isEqualTo(new RooflineBound(1, RooflineBound.By.BYTES));
    assertThat(RooflineBound.of(2e6, 1e12, 1e9, Double.POSITIVE_INFINITY).by())
        .isEqualTo(RooflineBound.By.OPERATIONS);
    assertThat(RooflineBound.UNKNOWN.isKnown()).isFalse();
  }
}
