package dev.warpwright.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
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

  @Test
  void findsTheFirstElementThatIsNotFinite() {
    for (DType dtype : new DType[] {DType.F64, DType.F32, DType.F16, DType.BF16}) {
      for (int at : new int[] {0, 1, 16383, 16384, 40000}) {
        double[] values = new double[40001];
        Arrays.setAll(values, i -> i % 2 == 0 ? -65000 : 1e-30);
        List<Long> shape = List.of((long) values.length);
        assertThat(ConstantTensor.ofDoubles("t", dtype, shape, values).firstNonFinite())
            .isEqualTo(-1);
        for (double bad : new double[] {Double.NaN, Double.NEGATIVE_INFINITY}) {
          values[at] = bad;
          values[40000] = bad;
          assertThat(ConstantTensor.ofDoubles("t", dtype, shape, values).firstNonFinite())
              .isEqualTo(at);
        }
      }
    }
    assertThat(ConstantTensor.ofLongs("t", List.of(1L), -1).firstNonFinite()).isEqualTo(-1);
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
