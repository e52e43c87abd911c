package dev.warpwright.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.ConstantTensor;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NonFiniteTest {
  @Test
  void findsTheFirstElementThatIsNotFinite() {
    for (DType dtype : new DType[] {DType.F64, DType.F32, DType.F16, DType.BF16}) {
      for (int at : new int[] {0, 1, 16383, 16384, 40000}) {
        double[] values = new double[40001];
        Arrays.setAll(values, i -> i % 2 == 0 ? -65000 : 1e-30);
        List<Long> shape = List.of((long) values.length);
        assertThat(NonFinite.first(ConstantTensor.ofDoubles("t", dtype, shape, values)))
            .isEqualTo(-1);
        for (double bad : new double[] {Double.NaN, Double.NEGATIVE_INFINITY}) {
          values[at] = bad;
          values[40000] = bad;
          assertThat(NonFinite.first(ConstantTensor.ofDoubles("t", dtype, shape, values)))
              .isEqualTo(at);
        }
      }
    }
    assertThat(NonFinite.first(ConstantTensor.ofLongs("t", List.of(1L), -1))).isEqualTo(-1);
  }
}
