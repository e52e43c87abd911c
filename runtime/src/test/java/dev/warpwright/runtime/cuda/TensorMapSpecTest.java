package dev.warpwright.runtime.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.type.DType;
import dev.warpwright.runtime.cuda.TensorMapSpec.L2Promotion;
import dev.warpwright.runtime.cuda.TensorMapSpec.OutOfBounds;
import dev.warpwright.runtime.cuda.TensorMapSpec.Swizzle;
import java.util.List;
import org.junit.jupiter.api.Test;

class TensorMapSpecTest {
  @Test
  void theUsualMatrix() {
    TensorMapSpec spec =
        TensorMapSpec.matrix(TensorMapSpec.Type.BF16, 1000, 4096, 8192, 128, 64, Swizzle.B128);
    assertThat(spec.dims()).containsExactly(4096L, 1000L);
    assertThat(spec.strides()).containsExactly(8192L);
    assertThat(spec.box()).containsExactly(64, 128);
    assertThat(spec.bytes()).isEqualTo(999L * 8192 + 8192);
    assertThat(TensorMapSpec.matrix(TensorMapSpec.Type.F32, 3, 5, 32, 8, 4, Swizzle.NONE).bytes())
        .as("the last row ends with its last element")
        .isEqualTo(2 * 32 + 20);
  }

  @Test
  void everyRuleIsChecked() {
    refused("rank 0", List.of(), List.of(), List.of(), List.of());
    refused(
        "rank 6",
        List.of(1L, 1L, 1L, 1L, 1L, 1L),
        List.of(16L, 16L, 16L, 16L, 16L),
        List.of(4, 1, 1, 1, 1, 1),
        List.of(1, 1, 1, 1, 1, 1));
    refused("0 strides", List.of(8L, 8L), List.of(), List.of(4, 4), List.of(1, 1));
    refused("box of 1", List.of(8L, 8L), List.of(32L), List.of(4), List.of(1, 1));
    refused("1 element strides", List.of(8L, 8L), List.of(32L), List.of(4, 4), List.of(1));
    refused("dimension 0", List.of(8L, 0L), List.of(32L), List.of(4, 4), List.of(1, 1));
    refused(
        "dimension 4294967297",
        List.of(8L, (1L << 32) + 1),
        List.of(32L),
        List.of(4, 4),
        List.of(1, 1));
    refused("stride of 20 bytes", List.of(5L, 8L), List.of(20L), List.of(4, 4), List.of(1, 1));
    refused(
        "stride of 1099511627776",
        List.of(8L, 8L),
        List.of(1L << 40),
        List.of(4, 4),
        List.of(1, 1));
    refused("box extent 257", List.of(8L, 999L), List.of(32L), List.of(4, 257), List.of(1, 1));
    refused("element stride 9", List.of(8L, 8L), List.of(32L), List.of(4, 4), List.of(1, 9));
    refused("row of 12 bytes", List.of(8L, 8L), List.of(32L), List.of(3, 4), List.of(1, 1));
    assertThatThrownBy(
            () -> TensorMapSpec.matrix(TensorMapSpec.Type.F32, 64, 64, 256, 8, 64, Swizzle.B128))
        .hasMessageContaining("row of 256 bytes exceeds swizzle B128");
    assertThatThrownBy(
            () ->
                new TensorMapSpec(
                    TensorMapSpec.Type.U8,
                    List.of(64L),
                    List.of(),
                    List.of(16),
                    List.of(1),
                    Swizzle.NONE,
                    L2Promotion.NONE,
                    OutOfBounds.NAN))
        .hasMessageContaining("NaN");
    assertThatThrownBy(
            () ->
                TensorMapSpec.matrix(TensorMapSpec.Type.F32, 8, 8, 32, 8, 4, Swizzle.NONE)
                    .checkAddress(24))
        .hasMessageContaining("multiple of 16");
  }

  @Test
  void everyElementTypeOfTheIrHasATypeOrIsRefused() {
    for (DType type : DType.values()) {
      if (type == DType.MBARRIER || type == DType.HANDLE) {
        assertThatThrownBy(() -> TensorMapSpec.Type.of(type))
            .isInstanceOf(IllegalArgumentException.class);
      } else {
        assertThat(TensorMapSpec.Type.of(type).bytes()).isEqualTo(type.bytes());
        assertThat(TensorMapSpec.Type.of(type).isFloat())
            .isEqualTo(type.isFloat() && type.bytes() > 1);
      }
    }
  }

  @Test
  void onlyRowsThatBeginWithALineArePromoted() {
    assertThat(
            TensorMapSpec.matrix(TensorMapSpec.Type.BF16, 968, 2624, 5248, 128, 64, Swizzle.B128)
                .l2Promotion())
        .isEqualTo(L2Promotion.B128);
    assertThat(
            TensorMapSpec.matrix(TensorMapSpec.Type.BF16, 968, 2616, 5232, 128, 64, Swizzle.B128)
                .l2Promotion())
        .isEqualTo(L2Promotion.NONE);
  }

  private static void refused(
      String message, List<Long> dims, List<Long> strides, List<Integer> box, List<Integer> steps) {
    assertThatThrownBy(
            () ->
                new TensorMapSpec(
                    TensorMapSpec.Type.F32,
                    dims,
                    strides,
                    box,
                    steps,
                    Swizzle.NONE,
                    L2Promotion.NONE,
                    OutOfBounds.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
