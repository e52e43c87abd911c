package dev.warpwright.compiler.predict;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HostRateTest {
  @Test
  void lanesAndClockGiveTheRate() {
    List<String> facts =
        List.of("flags\t\t: fpu avx avx2 avx512f", "cpu MHz\t\t: 2000.5", "cpu MHz\t\t: 2000.0");
    assertThat(HostRate.flops(facts, 2)).hasValue(2000.5e6 * 16 * 4 * 2);
    assertThat(HostRate.flops(List.of("flags : fpu avx avx2", "cpu MHz : 1000"), 1))
        .hasValue(1e9 * 8 * 4);
    assertThat(HostRate.flops(List.of("nothing"), 1)).isEmpty();
  }
}
