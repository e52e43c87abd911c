package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TensorCoreTest {
  private static final long SEED = Long.getLong("seed", 20_260_101);

  private static float f16Sum(float acc, float[] a, float[] b) {
    int[] x = new int[a.length];
    int[] y = new int[a.length];
    for (int i = 0; i < a.length; i++) {
      x[i] = Numerics.f16Bits(a[i]);
      y[i] = Numerics.f16Bits(b[i]);
    }
    int bits = Float.floatToRawIntBits(acc);
    return Float.intBitsToFloat(
        TensorCore.sum(
            bits,
            TensorCore.operand(MatrixMeanings.Input.F16, x),
            0,
            TensorCore.operand(MatrixMeanings.Input.F16, y),
            0,
            a.length));
  }

  @Test
  void cutsOffInsteadOfRounding() {
    // 2^24 - 1 + 1.5 = 2^24 + 0.5 is cut to 2^24; 2^24 + 3 is cut to 2^24 + 2, never rounded up.
    assertThat(f16Sum(0x1p24f - 1, new float[] {1.5f}, new float[] {1})).isEqualTo(0x1p24f);
    assertThat(f16Sum(0x1p24f, new float[] {3}, new float[] {1})).isEqualTo(0x1p24f + 2);
    assertThat(f16Sum(-0x1p24f, new float[] {-3}, new float[] {1})).isEqualTo(-0x1p24f - 2);
  }

  @Test
  void losesWhatLiesTooFarBelowTheLargest() {
    // 25 bits below the largest exponent are kept, what is smaller is cut off before the sum.
    float[] ones = {1, 1, 1, 1};
    assertThat(f16Sum(1, new float[] {0x1p-13f, -1}, new float[] {0x1p-12f, 1}))
        .isEqualTo(0x1p-25f);
    assertThat(f16Sum(1, new float[] {0x1p-13f, -1}, new float[] {0x1p-13f, 1})).isEqualTo(0);
    assertThat(f16Sum(0, ones, ones)).isEqualTo(4);
  }

  /** Bits of elements: many zeros, some subnormal, now and then infinite. */
  private static int[] elements(Random random, MatrixMeanings.Input input, int count, boolean all) {
    int[] bits = new int[count];
    for (int i = 0; i < count; i++) {
      double value = random.nextGaussian() * Math.scalb(1.0, random.nextInt(30) - 20);
      value = random.nextInt(4) == 0 ? 0 : value;
      value = all && random.nextInt(60) == 0 ? Double.POSITIVE_INFINITY : value;
      bits[i] =
          input == MatrixMeanings.Input.F16 ? Numerics.f16Bits(value) : Numerics.bf16Bits(value);
    }
    return bits;
  }

  @Test
  void manyElementsAreFormedAsOne() {
    Random random = new Random(SEED);
    for (int round = 0; round < 400; round++) {
      var input = round % 2 == 0 ? MatrixMeanings.Input.F16 : MatrixMeanings.Input.BF16;
      boolean all = round % 5 == 0;
      TensorCore.Rounding rounding = TensorCore.Rounding.values()[round % 3];
      int depth = 1 + random.nextInt(16);
      TensorCore.Operand a = TensorCore.operand(input, elements(random, input, 3 * depth, all));
      TensorCore.Operand b = TensorCore.operand(input, elements(random, input, 5 * depth, all));
      int[] c = new int[15];
      for (int i = 0; i < c.length; i++) {
        float start = (float) (random.nextGaussian() * Math.scalb(1.0, random.nextInt(80) - 60));
        start = random.nextInt(3) == 0 ? 0 : random.nextInt(50) == 0 ? Float.NaN : start;
        if (rounding == TensorCore.Rounding.F16) {
          start = (float) Numerics.round(DType.F16, start);
        }
        c[i] = Float.floatToRawIntBits(start);
      }
      int[] expected = new int[15];
      for (int i = 0; i < c.length; i++) {
        int row = i / 5 * depth;
        int column = i % 5 * depth;
        expected[i] = TensorCore.sum(c[i], a, row, b, column, depth, rounding);
      }
      TensorCore.accumulate(c, a, b, 3, 5, depth, rounding);
      assertThat(c).as("round %d, seed %d", round, SEED).isEqualTo(expected);
    }
  }

  private static float halfSum(float acc, float... products) {
    int[] x = new int[products.length];
    int[] y = new int[products.length];
    for (int i = 0; i < products.length; i++) {
      x[i] = Numerics.f16Bits(products[i]);
      y[i] = Numerics.f16Bits(1);
    }
    return Float.intBitsToFloat(
        TensorCore.sum(
            Float.floatToRawIntBits(acc),
            TensorCore.operand(MatrixMeanings.Input.F16, x),
            0,
            TensorCore.operand(MatrixMeanings.Input.F16, y),
            0,
            products.length,
            TensorCore.Rounding.F16));
  }

  @Test
  void sumsInF16AreRoundedToTheNearestOnce() {
    // Ulps are 2 from 2048 on: ties go to the even one, and only the whole sum is rounded.
    assertThat(halfSum(2048, 1)).isEqualTo(2048);
    assertThat(halfSum(2050, 1)).isEqualTo(2052);
    assertThat(halfSum(-2050, -1)).isEqualTo(-2052);
    assertThat(halfSum(2048, 1, 0x1p-10f)).isEqualTo(2050);
    assertThat(halfSum(2048, 1, 1, 1, 1)).isEqualTo(2052);
    // 25 bits below the largest are kept, less is cut off before: here it would decide the tie.
    assertThat(halfSum(2048, 1, 0x1p-14f)).isEqualTo(2050);
    assertThat(halfSum(32768, 16, 0x1p-11f)).isEqualTo(32768);
    assertThat(halfSum(32768, 16, 0x1p-10f)).isEqualTo(32800);
    assertThat(halfSum(65504, 15)).isEqualTo(65504);
    assertThat(halfSum(65504, 16)).isEqualTo(Float.POSITIVE_INFINITY);
    assertThat(halfSum(0x1p-24f, 0x1p-24f)).isEqualTo(0x1p-23f);
    assertThat(halfSum(Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY)).isNaN();
  }

  @Test
  void keepsSubnormals() {
    assertThat(f16Sum(0, new float[] {0x1p-24f}, new float[] {1})).isEqualTo(0x1p-24f);
    assertThat(f16Sum(Float.MIN_VALUE, new float[] {0}, new float[] {1}))
        .isEqualTo(Float.MIN_VALUE);
  }

  @Test
  void infinitiesAndNaNsGoThrough() {
    float inf = Float.POSITIVE_INFINITY;
    assertThat(f16Sum(0, new float[] {inf}, new float[] {1})).isEqualTo(inf);
    assertThat(f16Sum(0, new float[] {inf}, new float[] {0})).isNaN();
    assertThat(f16Sum(-inf, new float[] {inf}, new float[] {1})).isNaN();
    assertThat(f16Sum(Float.NaN, new float[] {1}, new float[] {1})).isNaN();
  }

  @Test
  void staysNearTheExactSum() {
    Random random = new Random(SEED);
    for (int round = 0; round < 10_000; round++) {
      float[] a = new float[16];
      float[] b = new float[16];
      float acc = (float) random.nextGaussian();
      double exact = acc;
      double largest = Math.abs(acc);
      for (int i = 0; i < 16; i++) {
        a[i] = (float) Numerics.round(DType.F16, random.nextGaussian());
        b[i] = (float) Numerics.round(DType.F16, random.nextGaussian());
        exact += (double) a[i] * b[i];
        largest = Math.max(largest, Math.abs((double) a[i] * b[i]));
      }
      double bound = 17 * largest * 0x1p-25 + Math.abs(exact) * 0x1p-23;
      assertThat((double) f16Sum(acc, a, b))
          .as("seed %d, round %d", SEED, round)
          .isCloseTo(exact, offset(bound));
    }
  }

  @Test
  void tf32IgnoresTheLowBits() {
    int[] x = {Float.floatToRawIntBits(1) | 0x1FFF};
    int[] one = {Float.floatToRawIntBits(1)};
    assertThat(
            Float.intBitsToFloat(
                TensorCore.sum(
                    0,
                    TensorCore.operand(MatrixMeanings.Input.TF32, x),
                    0,
                    TensorCore.operand(MatrixMeanings.Input.TF32, one),
                    0,
                    1)))
        .isEqualTo(1);
  }
}
