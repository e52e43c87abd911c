package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuDeviceTest {
  @ParameterizedTest
  @CsvSource({
    "1, 1, 1",
    "1, 300, 70",
    "37, 53, 29",
    "64, 64, 64",
    "113, 100, 512",
    "50, 40, 2100",
    "97, 31, 2048"
  })
  void productsAreRightForAnySize(int m, int n, int k) {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    float[] a = random(random, m * k);
    float[] b = random(random, k * n);
    float[] c = new float[m * n];
    Arrays.fill(c, Float.NaN);
    try (CpuDevice device = new CpuDevice()) {
      device.matmul(m, n, k).run(a, b, c);
    }
    double errors = 0;
    double norm = 0;
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int p = 0; p < k; p++) {
          sum += (double) a[i * k + p] * b[p * n + j];
        }
        errors += (c[i * n + j] - sum) * (c[i * n + j] - sum);
        norm += sum * sum;
      }
    }
    assertThat(Math.sqrt(errors / norm)).isLessThan(3e-6);
  }

  @Test
  void anArrayThatIsTooShortIsRefused() {
    try (CpuDevice device = new CpuDevice()) {
      CpuMatmul matmul = device.matmul(4, 4, 4);
      assertThatThrownBy(() -> matmul.run(new float[15], new float[16], new float[16]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("A of product spans 16 elements, its array has 15");
    }
  }

  @Test
  void aPreparedModelGivesWhatAnUnpreparedOneGives() {
    RealModel digits = RealModel.of("digits-relu-128-64/model.onnx");
    float[] x = Arrays.copyOf(digits.input(), 4 * 64);
    try (CpuDevice device = new CpuDevice();
        CompiledModel prepared = digits.load().compile(device);
        CompiledModel other = digits.load().compile(device)) {
      prepared.prepare(4);
      assertThat(prepared.run(x)).isEqualTo(other.run(x));
    }
  }

  private static float[] random(Random random, int count) {
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }
}
