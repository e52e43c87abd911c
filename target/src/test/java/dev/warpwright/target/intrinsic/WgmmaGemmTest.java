package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WgmmaGemmTest {
  private static final long SEED = Long.getLong("seed", 20_260_102);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wgmma.m64n40k16.f32.bf16",
        "wgmma.m64n16k16.f32.f16",
        "wgmma.m64n24k8.f32.tf32",
        "wgmma.m64n16k16.f16.f16",
        "wgmma.m64n16k32.f32.e4m3",
        "wgmma.m64n48k32.s32.s8",
        "wgmma.m64n8k32.f32.e5m2"
      })
  void addsTheProduct(String name) {
    WgmmaGemm product = product(name);
    int n = product.columns();
    int depth = product.depth();
    Random random = new Random(SEED);
    int[] a = new int[64 * depth];
    int[] b = new int[n * depth];
    for (int[] operand : new int[][] {a, b}) {
      for (int i = 0; i < operand.length; i++) {
        operand[i] = bits(product.input(), random.nextGaussian());
      }
    }
    int[] d = new int[128 * n / 2];
    for (int i = 0; i < d.length; i++) {
      d[i] =
          switch (product.accumulators()) {
            case F16 -> Numerics.f16Bits(i % 7);
            case I32 -> i % 7;
            default -> Float.floatToRawIntBits(i % 7);
          };
    }
    product.accumulate(d, a, b);
    boolean coarse = product.input().bytes() == 1 && product.accumulators() == DType.F32;
    for (int t = 0; t < 128; t++) {
      for (int i = 0; i < n / 2; i++) {
        int at = t * (n / 2) + i;
        double expected = at % 7;
        double largest = expected;
        for (int k = 0; k < depth; k++) {
          double term =
              value(product.input(), a[WgmmaGemm.row(t, i) * depth + k])
                  * value(product.input(), b[WgmmaGemm.column(t, i) * depth + k]);
          expected += term;
          largest = Math.max(largest, Math.abs(term));
        }
        double allowed =
            switch (product.accumulators()) {
              // Half a unit in the last place, and what was cut off before.
              case F16 -> Math.scalb(Math.abs(expected), -11) + 17 * Math.scalb(largest, -25);
              case I32 -> 0;
              // 32 products and the sum are cut off 13 bits below the largest.
              default -> coarse ? 34 * Math.scalb(largest, -12) : 1e-5;
            };
        double found =
            switch (product.accumulators()) {
              case F16 -> Numerics.f16ToFloat((short) d[at]);
              case I32 -> d[at];
              default -> Float.intBitsToFloat(d[at]);
            };
        assertThat(found).as("seed %d", SEED).isCloseTo(expected, offset(allowed));
        if (coarse) {
          assertThat(d[at] & 0x3FF).isZero();
        }
      }
    }
  }

  /** Warps that hold the first rows have what all rows would give them, the others anything. */
  @ParameterizedTest
  @ValueSource(ints = {16, 32, 48})
  void ofFewerRowsTheRestIsAnything(int rows) {
    String name = "wgmma.m%dn24k16.f32.bf16";
    WgmmaGemm few = product(String.format(Locale.ROOT, name, rows));
    WgmmaGemm all = product(String.format(Locale.ROOT, name, 64));
    Random random = new Random(SEED);
    int[] a = random.ints(64 * 16L, -2, 3).map(i -> Numerics.bf16Bits(i)).toArray();
    int[] b = random.ints(24 * 16L, -2, 3).map(i -> Numerics.bf16Bits(i)).toArray();
    int[] d = new int[128 * 12];
    int[] expected = new int[128 * 12];
    few.accumulate(d, Arrays.copyOf(a, rows * 16), b);
    all.accumulate(expected, a, b);
    int held = rows / 16 * 32 * 12;
    assertThat(Arrays.copyOf(d, held)).isEqualTo(Arrays.copyOf(expected, held));
    assertThat(Arrays.stream(d).skip(held).mapToObj(Float::intBitsToFloat)).containsOnly(Float.NaN);
  }

  private static WgmmaGemm product(String name) {
    TargetIntrinsic intrinsic = (TargetIntrinsic) Intrinsics.find(name).orElseThrow();
    WgmmaGemm product = HopperIntrinsics.wgmma(intrinsic);
    assertThat(product).isNotNull();
    assertThat(product.text()).isEqualTo(name);
    return product;
  }

  /** Registers filled with the numbers of their elements give each place of A once. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "wgmma.m64n16k16.f32.f16.ra",
        "wgmma.m64n16k16.f32.bf16.ra.tb",
        "wgmma.m64n16k8.f32.tf32.ra",
        "wgmma.m64n16k32.s32.s8.ra"
      })
  void readsTheFirstOperandOutOfRegisters(String name) {
    WgmmaGemm product = product(name);
    int depth = product.depth();
    int bytes = 32 / depth;
    int[] registers = new int[128 * 4];
    int[] expected = new int[64 * depth];
    for (int thread = 0; thread < 128; thread++) {
      for (int i = 0; i < 16 / bytes; i++) {
        // An odd number of elements goes round: neighbours differ, signs occur.
        int value = (thread * 31 + i * 17) % 251 - 125;
        registers[thread * 4 + i * bytes / 4] |=
            (bytes == 4 ? value : value & (1 << 8 * bytes) - 1) << 8 * (i * bytes % 4);
        expected[product.rowOfA(thread, i) * depth + product.depthOfA(thread, i)] = value;
      }
    }
    assertThat(product.matrixOfA(registers)).isEqualTo(expected);
  }

  /** So a layer's accumulators are, packed, the first operand of the next: no shuffle. */
  @Test
  void accumulatorsOf16BitsChain() {
    WgmmaGemm product = new WgmmaGemm(64, DType.F32, MatrixMeanings.Input.F16, false, false, true);
    for (int thread = 0; thread < 128; thread++) {
      for (int step = 0; step < 4; step++) {
        for (int i = 0; i < 8; i++) {
          assertThat(product.rowOfA(thread, i)).isEqualTo(WgmmaGemm.row(thread, 8 * step + i));
          assertThat(16 * step + product.depthOfA(thread, i))
              .isEqualTo(WgmmaGemm.column(thread, 8 * step + i));
        }
      }
    }
  }

  private static int bits(MatrixMeanings.Input input, double x) {
    return switch (input) {
      case F16 -> Numerics.f16Bits(x);
      case BF16 -> Numerics.bf16Bits(x);
      case TF32 -> Float.floatToRawIntBits((float) x);
      case E4M3 -> Numerics.e4m3Bits(x);
      case E5M2 -> Numerics.e5m2Bits(x);
      case S8 -> (int) Math.clamp(Math.round(60 * x), -128, 127);
    };
  }

  private static double value(MatrixMeanings.Input input, int bits) {
    return switch (input) {
      case F16 -> Numerics.f16ToFloat((short) bits);
      case BF16 -> Numerics.bf16ToFloat((short) bits);
      case TF32 -> Float.intBitsToFloat(bits & 0xFFFFE000);
      case E4M3 -> Numerics.e4m3ToFloat((byte) bits);
      case E5M2 -> Numerics.e5m2ToFloat((byte) bits);
      case S8 -> (byte) bits;
    };
  }
}
