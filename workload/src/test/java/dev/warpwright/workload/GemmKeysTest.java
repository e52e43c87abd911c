package dev.warpwright.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
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
            Batch.of(3).with(new Batch.Strides(50, 0, 40)),
            new Batch(3, false, true).with(new Batch.Strides(50, 0, 0)),
            Batch.grouped(12, 5).with(new Batch.Strides(50, 70, 40)),
            Batch.grouped(12, 5))) {
      GemmWorkload workload = one.times(batch);
      assertThat(GemmWorkload.of(workload.key())).isEqualTo(workload);
    }
    GemmWorkload apart = one.with(new GemmWorkload.Leading(16, 0, 8));
    assertThat(GemmWorkload.of(apart.key())).isEqualTo(apart);
    assertThat(apart.key().text()).contains("lda=16", "ldc=8").doesNotContain("ldb");
    assertThat(one.with(new GemmWorkload.Leading(9, 9, 7))).isEqualTo(one);
    assertThatThrownBy(() -> one.with(new GemmWorkload.Leading(8, 0, 0)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("lda=8: rows have 9 elements");
    assertThat(one.times(Batch.of(3).with(new Batch.Strides(45, 63, 35))))
        .isEqualTo(one.times(Batch.of(3)));
    // Rows of one product between those of another do not overlap, nor need a matrix end before
    // the next one begins.
    GemmWorkload between =
        one.with(new GemmWorkload.Leading(27, 0, 21))
            .times(Batch.of(3).with(new Batch.Strides(9, 0, 7)));
    assertThat(GemmWorkload.of(between.key())).isEqualTo(between);
    for (Batch.Strides overlapping :
        List.of(
            new Batch.Strides(44, 0, 0), new Batch.Strides(0, 62, 0), new Batch.Strides(0, 0, 7))) {
      assertThatThrownBy(() -> one.times(Batch.of(3).with(overlapping)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("overlap");
    }
    assertThatThrownBy(() -> one.times(new Batch(3, true, false).with(new Batch.Strides(45, 0, 0))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("stridea=45: all GEMMs share this operand");
    assertThat(one.key().text()).doesNotContain("batch");
    assertThat(one.times(Batch.of(8)).key().text()).contains("batch=8");
  }
}
