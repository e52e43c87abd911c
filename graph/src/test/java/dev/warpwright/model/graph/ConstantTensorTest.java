package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConstantTensorTest {

  @Test
  void roundsToNearestEven() {
    double[] values = {1, 1 + 0x1p-8, 1 + 3 * 0x1p-8, -2, Double.NaN, 1e39};
    ConstantTensor bf16 = ConstantTensor.ofDoubles("t", DType.BF16, List.of(6L), values);
    assertThat(bf16.toFloats())
        .containsExactly(1, 1, 1 + 0x1p-6f, -2, Float.NaN, Float.POSITIVE_INFINITY);
    ConstantTensor f16 =
        ConstantTensor.ofDoubles("t", DType.F16, List.of(2L), 1 + 0x1p-11, 1 + 3 * 0x1p-11);
    assertThat(f16.toDoubles()).containsExactly(1, 1 + 0x1p-9);
    assertThat(ConstantTensor.ofDoubles("t", DType.F64, List.of(), 0.1).doubleAt(0)).isEqualTo(0.1);
    assertThat(ConstantTensor.ofDoubles("t", DType.F32, List.of(), 0.1).doubleAt(0))
        .isEqualTo(0.1f);
  }

  @Test
  void refusesSizesThatDoNotFit() {
    MemorySegment eight = MemorySegment.ofArray(new byte[8]);
    assertThat(new ConstantTensor("t", DType.F32, List.of(2L), eight).count()).isEqualTo(2);
    for (List<Long> shape :
        List.of(List.of(3L), List.of(-1L, -2L), List.of(1L << 40, 1L << 40), List.of(1L << 62))) {
      assertThatThrownBy(() -> new ConstantTensor("t", DType.F32, shape, eight))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(ConstantTensor.elementCount(List.of(1L << 62, 0L))).isZero();
  }

  /** Each column times a number, rounded once; made once, and known how. */
  @Test
  void columnsAreScaled() {
    ConstantTensor a = ConstantTensor.ofDoubles("a", DType.BF16, List.of(2L, 2L), 1, 3, -2, 257);
    ConstantTensor factors = ConstantTensor.ofDoubles("f", DType.F32, List.of(2L), 0.5, 1 + 0x1p-8);
    ConstantTensor scaled = a.scaled(factors);
    assertThat(scaled.dtype()).isEqualTo(DType.BF16);
    // 3 + 3/256 lies nearer to 3.015625 than to 3; 256 · 257/256 between 256 and 258.
    assertThat(scaled.toDoubles()).containsExactly(0.5, 3.015625, -1, 256);
    assertThat(a.scaled(factors)).isSameAs(scaled);
    assertThat(scaled.origin()).isEqualTo(new Origin.Scaled(a, factors));
    assertThat(Origin.weights(scaled)).isNull();
    assertThat(Origin.weights(a.stored().scaled(factors.stored()))).hasSize(2);
    ConstantTensor one = ConstantTensor.ofDoubles("f", DType.F32, List.of(1L), 2);
    assertThatThrownBy(() -> a.scaled(one)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Rows of two in turns, and of nothing where there are no more. */
  @Test
  void rowsInTurns() {
    ConstantTensor a = ConstantTensor.ofDoubles("a", DType.F16, List.of(3L, 2L), 1, 2, 3, 4, 5, 6);
    ConstantTensor b =
        ConstantTensor.ofDoubles("b", DType.F16, List.of(3L, 2L), 7, 8, 9, 10, 11, 12);
    ConstantTensor both = a.interleaved(b, 4, 2);
    assertThat(both.shape()).containsExactly(8L, 2L);
    assertThat(both.toDoubles()).containsExactly(1, 2, 3, 4, 7, 8, 9, 10, 5, 6, 0, 0, 11, 12, 0, 0);
    assertThat(a.interleaved(b, 4, 2)).isSameAs(both);
    assertThat(a.interleaved(null, 4, 1).toDoubles())
        .containsExactly(1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0);
    assertThatThrownBy(() -> a.interleaved(b.interleaved(null, 3, 1), 4, 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.interleaved(b, 2, 2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> a.interleaved(b, 5, 2)).isInstanceOf(IllegalArgumentException.class);
  }
}
