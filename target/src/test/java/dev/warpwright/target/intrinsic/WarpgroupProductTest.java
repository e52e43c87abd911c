package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.warpwright.ir.Numerics;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WarpgroupProductTest {
  private static final long SEED = Long.getLong("seed", 20_260_102);

  @ParameterizedTest
  @ValueSource(ints = {8, 24, 256})
  void fragmentsCoverTheMatrixOnce(int n) {
    Set<Integer> seen = new HashSet<>();
    for (int t = 0; t < WarpgroupProduct.THREADS; t++) {
      for (int i = 0; i < n / 2; i++) {
        int row = WarpgroupProduct.row(t, i);
        int column = WarpgroupProduct.column(t, i);
        assertThat(row).isBetween(0, 63);
        assertThat(column).isBetween(0, n - 1);
        assertThat(seen.add(row * n + column)).isTrue();
      }
    }
    assertThat(seen).hasSize(64 * n);
    // Thread 37 is lane 5 of the second warp: row 16 + 1, columns 2 and 3, then 8 rows below.
    assertThat(WarpgroupProduct.row(37, 0)).isEqualTo(17);
    assertThat(WarpgroupProduct.column(37, 1)).isEqualTo(3);
    assertThat(WarpgroupProduct.row(37, 2)).isEqualTo(25);
    assertThat(WarpgroupProduct.column(37, 4)).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"wgmma.m64n40k16.f32.bf16", "wgmma.m64n16k16.f32.f16"})
  void addsTheProduct(String name) {
    TargetIntrinsic intrinsic = (TargetIntrinsic) Intrinsics.find(name).orElseThrow();
    WarpgroupProduct product = HopperIntrinsics.product(intrinsic);
    assertThat(product).isNotNull();
    boolean half = product.input() == MatrixMeanings.Input.F16;
    int n = product.columns();
    Random random = new Random(SEED);
    short[] a = new short[64 * 16];
    short[] b = new short[n * 16];
    for (short[] operand : new short[][] {a, b}) {
      for (int i = 0; i < operand.length; i++) {
        double x = random.nextGaussian();
        operand[i] = half ? Numerics.f16Bits(x) : Numerics.bf16Bits(x);
      }
    }
    int[] d = new int[128 * n / 2];
    for (int i = 0; i < d.length; i++) {
      d[i] = Float.floatToRawIntBits(i % 7);
    }
    product.accumulate(d, a, b);
    for (int t = 0; t < 128; t++) {
      for (int i = 0; i < n / 2; i++) {
        int at = t * (n / 2) + i;
        double expected = at % 7;
        for (int k = 0; k < 16; k++) {
          expected +=
              value(half, a[WarpgroupProduct.row(t, i) * 16 + k])
                  * value(half, b[WarpgroupProduct.column(t, i) * 16 + k]);
        }
        assertThat((double) Float.intBitsToFloat(d[at]))
            .as("seed %d", SEED)
            .isCloseTo(expected, offset(1e-5));
      }
    }
  }

  private static double value(boolean half, short bits) {
    return half ? Numerics.f16ToFloat(bits) : Numerics.bf16ToFloat(bits);
  }
}
