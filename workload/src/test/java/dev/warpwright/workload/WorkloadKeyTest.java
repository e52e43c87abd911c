package dev.warpwright.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

final class WorkloadKeyTest {
  private static WorkloadKey gemm(String rest) {
    return WorkloadKey.parse("gemm " + rest);
  }

  @Test
  void theTextHasOneOrder() {
    assertThat(gemm("n=2 m=1 dtype=bf16").text()).isEqualTo("gemm dtype=bf16 m=1 n=2");
    assertThat(gemm("n=2 m=1")).isEqualTo(gemm("m=1 n=2"));
  }

  @Test
  void distanceIsInPowersOfTwo() {
    WorkloadKey key = gemm("m=64 n=4096 dtype=bf16");
    assertThat(key.distance(key)).isZero();
    assertThat(key.distance(gemm("m=16 n=4096 dtype=bf16"))).isCloseTo(2, within(1e-9));
    assertThat(key.distance(gemm("m=64 n=4096 dtype=f16"))).isEqualTo(4);
    assertThat(key.distance(gemm("m=64 n=4096"))).isInfinite();
    assertThat(key.distance(WorkloadKey.parse("ffn m=64 n=4096 dtype=bf16"))).isInfinite();
  }

  @Test
  void refusesWhatIsNoKey() {
    assertThatThrownBy(() -> gemm("m")).hasMessageContaining("\"m\" is no parameter");
    assertThatThrownBy(() -> gemm("m=1 m=2")).hasMessageContaining("twice");
    assertThatThrownBy(() -> gemm("m=a=b")).hasMessageContaining("no word");
  }
}
