package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SharedTileTest {
  private static final Swizzle WIDE = new Swizzle(3, 3, 3);

  private static Buffer shared(DType dtype, @Nullable Layout layout, int alignment, long... shape) {
    return new Buffer(
        "As",
        dtype,
        Arrays.stream(shape).mapToObj(Exprs::i32).toList(),
        Scope.SHARED,
        layout,
        alignment);
  }

  private static Layout swizzled(Swizzle swizzle, long... shape) {
    return new Layout(Layout.rowMajor(shape).dimensions(), swizzle);
  }

  private static void refused(Buffer buffer, String message) {
    assertThatThrownBy(() -> SharedTile.of(buffer))
        .isInstanceOf(UserError.class)
        .hasMessage("shared buffer As " + message);
  }

  /**
   * 16-byte chunks stay whole: the lowest bit that a swizzle changes counts elements of a chunk.
   */
  @ParameterizedTest
  @CsvSource({
    "BF16, 64, 3, 3, 128, 1",
    "F16, 32, 2, 3, 64, 2",
    "BF16, 16, 1, 3, 32, 3",
    "F32, 32, 3, 2, 128, 1",
    "F32, 16, 2, 2, 64, 2",
    "F8E4M3, 128, 3, 4, 128, 1",
    "I8, 32, 1, 4, 32, 3",
    "F64, 16, 3, 1, 128, 1",
  })
  void rowsOfASwizzlesWidthAreDescribed(
      DType dtype, int columns, int bits, int base, int width, int mode) {
    Swizzle swizzle = new Swizzle(bits, base, 3);
    Buffer buffer = shared(dtype, swizzled(swizzle, 4, 64, columns), 1024, 4, 64, columns);
    assertThat(SharedTile.of(buffer)).isEqualTo(new SharedTile(width, true));
    assertThat(SharedTile.of(buffer).alignment()).isEqualTo(8 * width);
    assertThat(MatrixDescriptor.of(buffer)).isEqualTo(new MatrixDescriptor(mode, 8 * width));
    Buffer one = shared(dtype, swizzled(swizzle, 64, columns), 8 * width, 64, columns);
    assertThat(SharedTile.of(one)).isEqualTo(new SharedTile(width, true));
  }

  @Test
  void denseRowsNeedNoSwizzle() {
    SharedTile plain = new SharedTile(96, false);
    assertThat(SharedTile.of(shared(DType.BF16, null, 128, 2, 64, 48))).isEqualTo(plain);
    assertThat(SharedTile.of(shared(DType.BF16, Layout.rowMajor(64, 48), 128, 64, 48)))
        .isEqualTo(plain);
  }

  @Test
  void productsNeedASwizzle() {
    assertThatThrownBy(() -> MatrixDescriptor.of(shared(DType.BF16, null, 128, 64, 64)))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "shared buffer As is not swizzled; operands of wgmma need rows of 32, 64 or 128"
                + " bytes with the swizzle of that width");
  }

  @Test
  void aVectorIsNoTile() {
    refused(shared(DType.BF16, null, 128, 64), "needs rows and columns");
  }

  @Test
  void columnsAreContiguousAndRowsEvenlySpaced() {
    String message = "needs contiguous columns and one stride from row to row";
    refused(
        shared(DType.BF16, Layout.strided(new long[] {64, 64}, new long[] {1, 64}), 1024, 64, 64),
        message);
    List<Mode> columns = List.of(new Mode(64, 1));
    List<Mode> split = List.of(new Mode(8, 64), new Mode(8, 1024));
    refused(shared(DType.BF16, new Layout(List.of(split, columns), WIDE), 1024, 64, 64), message);
    refused(
        shared(
            DType.BF16, new Layout(List.of(List.of(new Mode(64, 64)), split), WIDE), 1024, 64, 64),
        message);
  }

  @Test
  void rowsAreDense() {
    refused(
        shared(DType.BF16, Layout.strided(new long[] {64, 64}, new long[] {72, 1}), 1024, 64, 64),
        "has rows of 128 bytes that lie 144 apart; they must be dense");
  }

  @Test
  void swizzledRowsHaveAWidthOfASwizzle() {
    refused(
        shared(DType.BF16, swizzled(WIDE, 64, 48), 1024, 64, 48),
        "has rows of 96 bytes; swizzled rows have 32, 64 or 128");
    refused(
        shared(DType.BF16, swizzled(WIDE, 64, 128), 1024, 64, 128),
        "has rows of 256 bytes; swizzled rows have 32, 64 or 128");
  }

  @Test
  void theSwizzleIsTheOneOfTheWidth() {
    refused(
        shared(DType.BF16, swizzled(new Swizzle(2, 3, 3), 64, 64), 1024, 64, 64),
        "has the swizzle <2,3,3>; rows of 128 bytes of bf16 need <3,3,3>");
    refused(
        shared(DType.BF16, swizzled(new Swizzle(3, 4, 3), 64, 64), 1024, 64, 64),
        "has the swizzle <3,4,3>; rows of 128 bytes of bf16 need <3,3,3>");
    refused(
        shared(DType.F32, swizzled(WIDE, 64, 16), 1024, 64, 16),
        "has the swizzle <3,3,3>; rows of 64 bytes of f32 need <2,2,3>");
    refused(
        shared(DType.BF16, swizzled(new Swizzle(1, 3, 4), 64, 16), 1024, 64, 16),
        "has the swizzle <1,3,4>; rows of 32 bytes of bf16 need <1,3,3>");
  }

  @Test
  void tilesBeginWhereThePatternDoes() {
    refused(
        shared(DType.BF16, swizzled(WIDE, 64, 64), 512, 64, 64),
        "is aligned to 512 bytes; its swizzle repeats every 1024");
    refused(
        shared(DType.BF16, swizzled(WIDE, 4, 12, 64), 1024, 4, 12, 64),
        "has tiles that do not begin on a multiple of 1024 bytes");
    refused(shared(DType.BF16, null, 16, 64, 64), "is aligned to 16 bytes; TMA copies need 128");
    refused(
        shared(DType.BF16, null, 128, 4, 3, 8),
        "has tiles that do not begin on a multiple of 128 bytes");
    assertThat(SharedTile.of(shared(DType.BF16, null, 128, 1, 3, 8)).width()).isEqualTo(16);
  }
}
