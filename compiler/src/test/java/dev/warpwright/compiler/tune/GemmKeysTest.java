package dev.warpwright.compiler.tune;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.families.Batch;
import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

class GemmKeysTest {
  @Test
  void keysAreReadBack() {
    GemmWorkload one = GemmWorkload.nt(5, 7, 9, DType.BF16);
    for (Batch batch :
        List.of(
            Batch.NONE,
            Batch.of(8),
            new Batch(3, true, false),
            new Batch(3, false, true),
            Batch.grouped(12, 5))) {
      GemmWorkload workload = one.times(batch);
      assertThat(GemmKeys.workload(GemmKeys.of(workload))).isEqualTo(workload);
    }
    GemmWorkload apart = one.with(new GemmWorkload.Leading(16, 0, 8));
    assertThat(GemmKeys.workload(GemmKeys.of(apart))).isEqualTo(apart);
    assertThat(GemmKeys.of(apart).text()).contains("lda=16", "ldc=8").doesNotContain("ldb");
    assertThat(one.with(new GemmWorkload.Leading(9, 9, 7))).isEqualTo(one);
    assertThatThrownBy(() -> one.with(new GemmWorkload.Leading(8, 0, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("lda=8: rows have 9 elements");
    assertThat(GemmKeys.of(one).text()).doesNotContain("batch");
    assertThat(GemmKeys.of(one.times(Batch.of(8))).text()).contains("batch=8");
  }
}
