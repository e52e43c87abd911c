package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.DType;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class TensorTest {

  @Test
  void roundsToNearestEven() {
    double[] values = {1, 1 + 0x1p-8, 1 + 3 * 0x1p-8, -2, Double.NaN, 1e39};
    Tensor bf16 = Tensor.ofDoubles("t", DType.BF16, List.of(6L), values);
    assertThat(bf16.toFloats())
        .containsExactly(1, 1, 1 + 0x1p-6f, -2, Float.NaN, Float.POSITIVE_INFINITY);
    Tensor f16 = Tensor.ofDoubles("t", DType.F16, List.of(2L), 1 + 0x1p-11, 1 + 3 * 0x1p-11);
    assertThat(f16.toDoubles()).containsExactly(1, 1 + 0x1p-9);
    assertThat(Tensor.ofDoubles("t", DType.F64, List.of(), 0.1).doubleAt(0)).isEqualTo(0.1);
    assertThat(Tensor.ofDoubles("t", DType.F32, List.of(), 0.1).doubleAt(0)).isEqualTo(0.1f);
  }

  @Test
  void refusesSizesThatDoNotFit() {
    MemorySegment eight = MemorySegment.ofArray(new byte[8]);
    assertThat(new Tensor("t", DType.F32, List.of(2L), eight).count()).isEqualTo(2);
    for (List<Long> shape :
        List.of(List.of(3L), List.of(-1L, -2L), List.of(1L << 40, 1L << 40), List.of(1L << 62))) {
      assertThatThrownBy(() -> new Tensor("t", DType.F32, shape, eight))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(Tensor.elementCount(List.of(1L << 62, 0L))).isZero();
  }
}
