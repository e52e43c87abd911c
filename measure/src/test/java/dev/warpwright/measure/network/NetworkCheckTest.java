package dev.warpwright.measure.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.network.NetworkMemory.Column;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NetworkCheckTest {
  /** Elements are 1, as expected, and may be off by a thousandth. */
  private static NetworkData ones(int rows, int features) {
    double[] expected = new double[rows * features];
    double[] deviations = new double[rows * features];
    Arrays.fill(expected, 1);
    Arrays.fill(deviations, 1e-3);
    return new NetworkData(rows, rows, List.of(), List.of(expected), List.of(deviations), 1e-2, 1);
  }

  private static NetworkError error(int rows, int features, float[] out) {
    NetworkCheck.Sum sum =
        new NetworkCheck.Sum(ones(rows, features), new Column(features, DType.F32), 0, 0);
    sum.add(0, rows, place -> out[place]);
    return sum.error();
  }

  /** Tasks of many rows, of one row, and rows that are longer than a task. */
  @ParameterizedTest
  @CsvSource({"1, 1", "70001, 3", "5, 65536", "7, 65537", "3, 200000"})
  void everyElementIsCompared(int rows, int features) {
    int count = rows * features;
    for (int wrong : new int[] {0, count / 2, count - 1}) {
      float[] out = new float[count];
      Arrays.fill(out, 1);
      out[wrong] = 1.5f;
      NetworkError error = error(rows, features, out);
      assertThat(error.maxAbs()).isEqualTo(0.5);
      assertThat(error.where()).isEqualTo("[" + wrong / features + ", " + wrong % features + "]");
      assertThat(error.relative()).isEqualTo(0.5 / Math.sqrt(count), within(1e-9));
    }
  }

  @Test
  void theFirstElementThatWasNeverWrittenIsNamed() {
    float[] out = new float[3 * 100_000];
    Arrays.fill(out, 1);
    out[250_000] = Float.NaN;
    out[120_000] = Float.NaN;
    NetworkError error = error(3, 100_000, out);
    assertThat(error.nonFinite()).isEqualTo(2);
    assertThat(error.where()).isEqualTo("[1, 20000]");
    assertThat(error.within(1)).isFalse();
  }
}
