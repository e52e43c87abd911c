package dev.warpwright.target.intrinsic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.TensorMaps.Spec;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class TensorMapsTest {
  private static final String SWIZZLED = "shared layout (128:64),(64:1)^<3,3,3> align 1024";

  private static Kernel kernel(String tile, String copies) {
    return new IrParser(Intrinsics::find)
        .kernel(
            "test",
            String.format(
                Locale.ROOT,
                """
                kernel k(A: bf16[M, 4096], B: bf16[512, 512], V: bf16[4096], F: f32[M, 4096], M: i32 in 1..512)
                    grid(bx = 1) block(tid = 32) {
                  alloc As: %s
                  alloc full: mbarrier[1] shared
                  %s
                }
                """,
                tile,
                copies));
  }

  private static List<Spec> specs(String tile, String copies) {
    return TensorMaps.of(kernel(tile, copies)).maps();
  }

  private static void refused(String tile, String copies, String message) {
    assertThatThrownBy(() -> specs(tile, copies)).isInstanceOf(UserError.class).hasMessage(message);
  }

  @Test
  void eachDifferentMapIsThereOnceInTheOrderOfUse() {
    List<Spec> specs =
        specs(
            "bf16[128, 64] " + SWIZZLED,
            """
            bulk.load.2d(&As[0, 0], &B[0, 64], &full[0], 128, 64)
              bulk.load.2d.multicast(&As[64, 0], &A[0, 0], &full[0], 64, 64, 3)
              bulk.load.2d(&As[0, 0], &A[64, 64], &full[0], 64, 64)
              bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], 128, 64)
              bulk.store.2d(&B[128, 0], &As[0, 0], 128, 64)
            """);
    assertThat(specs)
        .extracting(spec -> spec.global().name() + " " + spec.rows() + "x" + spec.cols())
        .containsExactly("B 128x64", "A 64x64", "A 128x64");
    assertThat(specs).extracting(Spec::swizzleBytes).containsOnly(128);
  }

  @Test
  void boxesAreSwizzledAsTheTileIs() {
    String load = "bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], 8, %d)";
    assertThat(
            specs(
                "bf16[8, 32] shared layout (8:32),(32:1)^<2,3,3> align 512",
                String.format(Locale.ROOT, load, 32)))
        .extracting(Spec::swizzleBytes)
        .containsExactly(64);
    assertThat(
            specs(
                "bf16[8, 16] shared layout (8:16),(16:1)^<1,3,3> align 256",
                String.format(Locale.ROOT, load, 16)))
        .extracting(Spec::swizzleBytes)
        .containsExactly(32);
    assertThat(specs("bf16[8, 24] shared align 128", String.format(Locale.ROOT, load, 24)))
        .extracting(Spec::swizzleBytes)
        .containsExactly(0);
  }

  @Test
  void otherCallsNeedNone() {
    assertThat(specs("bf16[128, 64] " + SWIZZLED, "mbarrier.arrive(&full[0])")).isEmpty();
  }

  @Test
  void theMatrixHasRankTwo() {
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.load.2d(&As[0, 0], &V[0], &full[0], 128, 64)",
        "TMA copy of V: it has rank 1, not 2");
  }

  @Test
  void nothingIsConverted() {
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.store.2d(&F[0, 0], &As[0, 0], 128, 64)",
        "TMA copy between F (f32) and As (bf16): it converts nothing");
  }

  @Test
  void theBoxIsAsWideAsTheTile() {
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], 128, 32)",
        "TMA copy of 32 columns of A: its rows take 64 bytes, those of As 128");
  }

  @Test
  void aBoxHasItsLimits() {
    String limits =
        " of A: a box has 1 to 256 elements each way and rows of a multiple of 16 bytes";
    String load = "bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], %d, %d)";
    refused(
        "bf16[512, 64] shared layout (512:64),(64:1)^<3,3,3> align 1024",
        String.format(Locale.ROOT, load, 257, 64),
        "TMA copy of 257x64" + limits);
    refused(
        "bf16[128, 64] " + SWIZZLED,
        String.format(Locale.ROOT, load, 0, 64),
        "TMA copy of 0x64" + limits);
    refused(
        "bf16[8, 264] shared align 128",
        String.format(Locale.ROOT, load, 8, 264),
        "TMA copy of 8x264" + limits);
    refused(
        "bf16[8, 12] shared align 128",
        String.format(Locale.ROOT, load, 8, 12),
        "TMA copy of 8x12" + limits);
    assertThat(specs("bf16[256, 256] shared align 128", String.format(Locale.ROOT, load, 256, 256)))
        .hasSize(1);
  }

  @Test
  void theBoxFitsIntoTheTile() {
    String message =
        "TMA copy of %d rows of A: they must begin at column 0 of As, whose tiles have 128 rows";
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], 192, 64)",
        String.format(Locale.ROOT, message, 192));
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.load.2d(&As[0, 16], &A[0, 0], &full[0], 64, 64)",
        String.format(Locale.ROOT, message, 64));
  }

  @Test
  void sizesAreConstants() {
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.load.2d(&As[0, 0], &A[0, 0], &full[0], tid, 64)",
        "bulk.load.2d needs a constant number of rows");
    refused(
        "bf16[128, 64] " + SWIZZLED,
        "bulk.store.2d(&A[0, 0], &As[0, 0], 128, M)",
        "bulk.store.2d needs a constant number of columns");
  }

  @Test
  void tilesAreNamedByTheirFirstElement() {
    Buffer a = Buffer.of("A", DType.BF16, Scope.GLOBAL, 128, 64);
    Expr.AddressOf first = new Expr.AddressOf(a, List.of(Exprs.i32(0), Exprs.i32(0)));
    assertThatThrownBy(() -> TensorMaps.spec(store(first, Exprs.i32(7))))
        .isInstanceOf(UserError.class)
        .hasMessage("bulk.store.2d needs the address of an element, not 7");
    assertThatThrownBy(() -> TensorMaps.spec(store(Exprs.i32(7), first)))
        .isInstanceOf(UserError.class)
        .hasMessage("bulk.store.2d needs the address of an element, not 7");
  }

  @Test
  void rowsAreContiguous() {
    Buffer a =
        Buffer.of("A", DType.BF16, Scope.GLOBAL, 128, 64)
            .withLayout(Layout.strided(new long[] {128, 64}, new long[] {1, 128}));
    Buffer tile = new Buffer("As", DType.BF16, a.shape(), Scope.SHARED, null, 128);
    List<Expr> origin = List.of(Exprs.i32(0), Exprs.i32(0));
    assertThatThrownBy(
            () ->
                TensorMaps.spec(
                    store(new Expr.AddressOf(a, origin), new Expr.AddressOf(tile, origin))))
        .isInstanceOf(UserError.class)
        .hasMessage(
            "TMA copy of A: it has a layout, but only matrices of contiguous rows have maps");
  }

  private static Expr.Call store(Expr dst, Expr src) {
    return new Expr.Call(
        HopperIntrinsics.BULK_STORE, List.of(dst, src, Exprs.i32(128), Exprs.i32(64)), Type.I32);
  }
}
