package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The fragment maps here are written out by hand from the PTX ISA, element by element. */
class MatrixMeaningsTest {
  private static final long SEED = Long.getLong("seed", 20_260_101);

  /** The (row, k) or (k, column) of element i of a lane's fragment. */
  @FunctionalInterface
  private interface Position {
    int[] of(int g, int q, int i);
  }

  private static int b(int i, int bit) {
    return (i >> bit) & 1;
  }

  static Stream<Arguments> products() {
    Position a16 = (g, q, i) -> new int[] {g + 8 * b(i, 1), 2 * q + b(i, 0) + 8 * (i >> 2)};
    Position b16 = (g, q, i) -> new int[] {2 * q + b(i, 0) + 8 * (i >> 1), g};
    Position a8 = (g, q, i) -> new int[] {g + 8 * (i >> 1), 2 * q + b(i, 0)};
    Position b8 = (g, q, i) -> new int[] {2 * q + i, g};
    Position aTf = (g, q, i) -> new int[] {g + 8 * b(i, 0), q + 4 * (i >> 1)};
    Position bTf = (g, q, i) -> new int[] {q + 4 * i, g};
    return Stream.of(
        Arguments.of(Intrinsics.MMA_M16N8K16_F16, "f16", 16, a16, b16),
        Arguments.of(Intrinsics.MMA_M16N8K16_F16_F16, "f16", 16, a16, b16),
        Arguments.of(Intrinsics.MMA_M16N8K8_F16_F16, "f16", 8, a8, b8),
        Arguments.of(Intrinsics.MMA_M16N8K16_BF16, "bf16", 16, a16, b16),
        Arguments.of(Intrinsics.MMA_M16N8K8_F16, "f16", 8, a8, b8),
        Arguments.of(Intrinsics.MMA_M16N8K8_TF32, "tf32", 8, aTf, bTf));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("products")
  void multiplies(TargetIntrinsic mma, String type, int k, Position aMap, Position bMap) {
    Random random = new Random(SEED);
    boolean half = mma.operands().getFirst().dtype() == DType.F16;
    String sums = half ? "f16" : "f32";
    for (int round = 0; round < 20; round++) {
      float[][] a = integers(random, 16, k);
      float[][] bb = integers(random, k, 8);
      float[][] c = integers(random, 16, 8);
      WarpOfArrays warp = new WarpOfArrays(32, 3, 4);
      for (int lane = 0; lane < 32; lane++) {
        int g = lane / 4;
        int q = lane % 4;
        for (int i = 0; i < 16 * k / 32; i++) {
          int[] at = aMap.of(g, q, i);
          put(warp.memory[1][lane], i, type, a[at[0]][at[1]]);
        }
        for (int i = 0; i < 8 * k / 32; i++) {
          int[] at = bMap.of(g, q, i);
          put(warp.memory[2][lane], i, type, bb[at[0]][at[1]]);
        }
        for (int i = 0; i < 4; i++) {
          put(warp.memory[0][lane], i, sums, c[g + 8 * (i >> 1)][2 * q + (i & 1)]);
        }
      }
      warp.run(mma);
      for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 4; i++) {
          int row = lane / 4 + 8 * (i >> 1);
          int col = 2 * (lane % 4) + (i & 1);
          float expected = c[row][col];
          for (int kk = 0; kk < k; kk++) {
            expected += a[row][kk] * bb[kk][col];
          }
          // Sums of small integers are exact in f32, in f16 up to 2048.
          expected = half ? (float) Numerics.round(DType.F16, expected) : expected;
          int bits = warp.memory[0][lane][half ? i / 2 : i];
          assertThat(
                  half
                      ? Numerics.f16ToFloat((short) (bits >>> 16 * (i % 2)))
                      : Float.intBitsToFloat(bits))
              .as("row %d, column %d, seed %d", row, col, SEED)
              .isEqualTo(expected);
        }
      }
    }
  }

  private static float[][] integers(Random random, int rows, int cols) {
    float[][] matrix = new float[rows][cols];
    for (float[] row : matrix) {
      for (int i = 0; i < cols; i++) {
        row[i] = random.nextInt(-20, 21);
      }
    }
    return matrix;
  }

  private static void put(int[] registers, int i, String type, float value) {
    switch (type) {
      case "tf32", "f32" -> registers[i] = Float.floatToRawIntBits(value);
      case "f16" -> registers[i / 2] |= (Numerics.f16Bits(value) & 0xFFFF) << 16 * (i % 2);
      default -> registers[i / 2] |= (Numerics.bf16Bits(value) & 0xFFFF) << 16 * (i % 2);
    }
  }

  static Stream<Arguments> loads() {
    return Stream.of(
        Arguments.of(Intrinsics.LDMATRIX_X1, 1, false),
        Arguments.of(Intrinsics.LDMATRIX_X2, 2, false),
        Arguments.of(Intrinsics.LDMATRIX_X4, 4, false),
        Arguments.of(Intrinsics.LDMATRIX_X1_TRANS, 1, true),
        Arguments.of(Intrinsics.LDMATRIX_X2_TRANS, 2, true),
        Arguments.of(Intrinsics.LDMATRIX_X4_TRANS, 4, true));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("loads")
  void loadsMatrices(TargetIntrinsic ldmatrix, int matrices, boolean transposed) {
    WarpOfArrays warp = new WarpOfArrays(32, 2, 4);
    for (int lane = 0; lane < 32; lane++) {
      for (int col = 0; col < 8; col++) {
        warp.memory[1][lane][col / 2] |= (100 * lane + col) << 16 * (col % 2);
      }
    }
    warp.run(ldmatrix);
    for (int lane = 0; lane < 32; lane++) {
      int g = lane / 4;
      int q = lane % 4;
      for (int j = 0; j < matrices; j++) {
        // Row r of matrix j came from lane 8j + r.
        int low = transposed ? 100 * (8 * j + 2 * q) + g : 100 * (8 * j + g) + 2 * q;
        int high = transposed ? 100 * (8 * j + 2 * q + 1) + g : 100 * (8 * j + g) + 2 * q + 1;
        assertThat(warp.memory[0][lane][j]).isEqualTo(low | high << 16);
      }
    }
  }

  @Test
  void storesWhatItLoads() {
    Random random = new Random(SEED);
    for (boolean transposed : new boolean[] {false, true}) {
      WarpOfArrays load = new WarpOfArrays(32, 2, 4);
      for (int[] row : load.memory[1]) {
        for (int i = 0; i < 4; i++) {
          row[i] = random.nextInt();
        }
      }
      load.run(transposed ? Intrinsics.LDMATRIX_X4_TRANS : Intrinsics.LDMATRIX_X4);
      WarpOfArrays store = new WarpOfArrays(32, 2, 4);
      System.arraycopy(load.memory[0], 0, store.memory[1], 0, 32);
      store.run(transposed ? Intrinsics.STMATRIX_X4_TRANS : Intrinsics.STMATRIX_X4);
      assertThat(store.memory[0]).as("seed %d", SEED).isDeepEqualTo(load.memory[1]);
    }
  }

  @Test
  void storesTwoTransposedMatrices() {
    Random random = new Random(SEED);
    WarpOfArrays load = new WarpOfArrays(32, 2, 4);
    for (int lane = 0; lane < 16; lane++) {
      for (int i = 0; i < 4; i++) {
        load.memory[1][lane][i] = random.nextInt();
      }
    }
    load.run(Intrinsics.LDMATRIX_X2_TRANS);
    WarpOfArrays store = new WarpOfArrays(32, 2, 4);
    System.arraycopy(load.memory[0], 0, store.memory[1], 0, 32);
    store.run(Intrinsics.STMATRIX_X2_TRANS);
    assertThat(store.memory[0]).as("seed %d", SEED).isDeepEqualTo(load.memory[1]);
  }

  @Test
  void accumulatorOfOneLayerIsInputOfTheNext() {
    // The c of n8 tile 2s + (i >> 2) is a_i of k16 step s: what chaining in registers rests on.
    for (int lane = 0; lane < 32; lane++) {
      int g = lane / 4;
      int q = lane % 4;
      for (int i = 0; i < 8; i++) {
        int c = i & 3;
        int cRow = g + 8 * (c >> 1);
        int cCol = 8 * (i >> 2) + 2 * q + (c & 1);
        assertThat(new int[] {cRow, cCol})
            .containsExactly(g + 8 * b(i, 1), 2 * q + b(i, 0) + 8 * (i >> 2));
      }
    }
  }

  @Test
  void needsTheWholeWarp() {
    assertThatThrownBy(() -> new WarpOfArrays(16, 3, 4).run(Intrinsics.MMA_M16N8K8_F16))
        .hasMessageContaining("all 32 lanes");
  }
}
