package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.Numerics;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class IntrinsicsTest {
  @Test
  void areFoundByName() {
    Set<String> functions = new HashSet<>();
    for (TargetIntrinsic intrinsic : Intrinsics.all()) {
      assertThat(Intrinsics.find(intrinsic.text())).containsSame(intrinsic);
      assertThat(intrinsic.text()).matches("[a-z][a-z0-9_.]*");
      assertThat(functions.add(intrinsic.function())).isTrue();
      assertThat(
              intrinsic.isBuiltIn() || intrinsic.cuda().contains(" " + intrinsic.function() + "("))
          .as(intrinsic.text())
          .isTrue();
      assertThat(intrinsic.cuda()).doesNotContain("#include");
    }
    assertThat(Intrinsics.find("no.such.thing")).isEmpty();
    assertThat(Intrinsics.find("mma.m16n8k16.f32.bf16")).contains(Intrinsics.MMA_M16N8K16_BF16);
  }

  @Test
  void onlyWaitsAndRegisterCountsTakeConstants() {
    assertThat(Intrinsics.all().stream().filter(TargetIntrinsic::takesConstant))
        .containsExactlyInAnyOrder(
            Intrinsics.CP_ASYNC_WAIT,
            HopperIntrinsics.SETMAXNREG_INC,
            HopperIntrinsics.SETMAXNREG_DEC,
            HopperIntrinsics.WGMMA_WAIT,
            HopperIntrinsics.BULK_WAIT,
            HopperIntrinsics.BULK_WAIT_READ);
  }

  @Test
  void bytesAreShiftedAcrossWords() {
    WarpOfArrays thread = new WarpOfArrays(1, 4, 8);
    for (int shift = 0; shift < 16; shift++) {
      for (int count = -1; count <= 16; count++) {
        for (int i = 0; i < 8; i++) {
          thread.memory[1][0][i] = 0x04030201 + 0x04040404 * i;
        }
        thread.values[2][0] = shift;
        thread.values[3][0] = count;
        thread.run(VectorIntrinsics.STORE_SHIFTED_X4);
        for (int at = 0; at < 16; at++) {
          assertThat(thread.memory[0][0][at / 4] >>> 8 * (at % 4) & 0xFF)
              .as("byte %s, shift %s, count %s", at, shift, count)
              .isEqualTo(at < count ? at + shift + 1 : 0);
        }
      }
    }
    thread.values[2][0] = 16;
    assertThatThrownBy(() -> thread.run(VectorIntrinsics.STORE_SHIFTED_X4))
        .hasMessageContaining("16 bytes");
  }

  @Test
  void rowsOfBytesBecomeColumns() {
    WarpOfArrays thread = new WarpOfArrays(1, 2, 4);
    thread.memory[1][0] = new int[] {0x03020100, 0x13121110, 0x23222120, 0xF3F2F1F0};
    thread.run(VectorIntrinsics.TRANSPOSE_B8_X4);
    assertThat(thread.memory[0][0]).containsExactly(0xF0201000, 0xF1211101, 0xF2221202, 0xF3231303);
    thread.run(VectorIntrinsics.STORE_X4);
    assertThat(thread.memory[0][0]).isEqualTo(thread.memory[1][0]);
  }

  @Test
  void asynchronousCopiesFillWithZeros() {
    WarpOfArrays thread = new WarpOfArrays(1, 3, 4);
    thread.memory[0][0] = new int[] {9, 9, 9, 9};
    thread.memory[1][0] = new int[] {1, 2, 3, 4};
    thread.values[2][0] = 8;
    thread.run(Intrinsics.CP_ASYNC_16);
    assertThat(thread.memory[0][0]).containsExactly(1, 2, 0, 0);
    thread.values[2][0] = 20;
    assertThatThrownBy(() -> thread.run(Intrinsics.CP_ASYNC_16))
        .hasMessageContaining("srcBytes 20");
  }

  @Test
  void packsRoundAndPutTheFirstLow() {
    WarpOfArrays thread = new WarpOfArrays(1, 2, 1);
    thread.values[0][0] = Float.floatToRawIntBits(0.1f);
    thread.values[1][0] = Float.floatToRawIntBits(-3);
    thread.run(Intrinsics.PACK_F16X2);
    assertThat(thread.results[0])
        .isEqualTo((Numerics.f16Bits(0.1f) & 0xFFFFL) | (Numerics.f16Bits(-3) & 0xFFFFL) << 16);
    thread.run(Intrinsics.PACK_BF16X2);
    assertThat(thread.results[0])
        .isEqualTo((Numerics.bf16Bits(0.1f) & 0xFFFFL) | (Numerics.bf16Bits(-3) & 0xFFFFL) << 16);
    thread.run(Intrinsics.PACK_RELU_F16X2);
    assertThat(thread.results[0]).isEqualTo(Numerics.f16Bits(0.1f) & 0xFFFFL);
    thread.run(Intrinsics.PACK_RELU_BF16X2);
    assertThat(thread.results[0]).isEqualTo(Numerics.bf16Bits(0.1f) & 0xFFFFL);
    thread.values[1][0] = Float.floatToRawIntBits(Float.NaN);
    thread.run(Intrinsics.PACK_RELU_F16X2);
    assertThat(Numerics.f16ToFloat((short) (thread.results[0] >> 16))).isNaN();
    thread.run(Intrinsics.CVT_RNA_TF32);
    assertThat(Float.intBitsToFloat((int) thread.results[0])).isEqualTo(Numerics.tf32(0.1f));
  }

  @Test
  void joinsPutTheFirstLow() {
    WarpOfArrays thread = new WarpOfArrays(1, 2, 1);
    thread.values[0][0] = Float.floatToRawIntBits(-0.5f);
    thread.values[1][0] = Float.floatToRawIntBits(3);
    thread.run(Intrinsics.JOIN_F16X2);
    assertThat(thread.results[0])
        .isEqualTo((Numerics.f16Bits(-0.5f) & 0xFFFFL) | (Numerics.f16Bits(3) & 0xFFFFL) << 16);
    thread.run(Intrinsics.JOIN_RELU_F16X2);
    assertThat(thread.results[0]).isEqualTo((Numerics.f16Bits(3) & 0xFFFFL) << 16);
    thread.values[0][0] = Float.floatToRawIntBits(Float.NaN);
    thread.run(Intrinsics.JOIN_RELU_F16X2);
    assertThat(Numerics.f16ToFloat((short) thread.results[0])).isNaN();
  }

  @Test
  void whatIsNegativeIsCutOffAndNanStays() {
    WarpOfArrays threads = new WarpOfArrays(4, 1, 1);
    float[] values = {-3, 0.1f, Float.NaN, Float.NEGATIVE_INFINITY};
    for (int i = 0; i < values.length; i++) {
      threads.values[0][i] = Float.floatToRawIntBits(values[i]);
    }
    threads.run(Intrinsics.COPY_F32);
    for (int i = 0; i < values.length; i++) {
      assertThat(threads.results[i]).isEqualTo(Float.floatToRawIntBits(values[i]) & 0xFFFFFFFFL);
    }
    threads.run(Intrinsics.RELU_F32);
    assertThat(threads.results)
        .containsExactly(
            0L,
            Float.floatToRawIntBits(0.1f) & 0xFFFFFFFFL,
            Float.floatToRawIntBits(Float.NaN) & 0xFFFFFFFFL,
            0L);
  }

  @Test
  void saturatedSumsAreFromZeroToOne() {
    WarpOfArrays threads = new WarpOfArrays(5, 3, 1);
    float[] values = {0.5f, -1, 3, Float.NaN, Float.POSITIVE_INFINITY};
    for (int i = 0; i < values.length; i++) {
      threads.values[0][i] = Float.floatToRawIntBits(values[i]);
      threads.values[1][i] = Float.floatToRawIntBits(1);
      threads.values[2][i] = Float.floatToRawIntBits(0.25f);
    }
    threads.run(Intrinsics.FMA_SAT_F32);
    long one = Float.floatToRawIntBits(1);
    assertThat(threads.results).containsExactly(Float.floatToRawIntBits(0.75f), 0, one, 0, one);
  }

  @Test
  void shufflesTakeFromOtherLanes() {
    WarpOfArrays warp = new WarpOfArrays(32, 2, 1);
    for (int lane = 0; lane < 32; lane++) {
      warp.values[0][lane] = 1000 + lane;
      warp.values[1][lane] = 5;
    }
    warp.run(Intrinsics.SHFL_XOR_F32);
    assertThat(warp.results[8]).isEqualTo(1000 + (8 ^ 5));
    warp.run(Intrinsics.SHFL_IDX_F32);
    assertThat(warp.results).containsOnly(1005);
  }
}
