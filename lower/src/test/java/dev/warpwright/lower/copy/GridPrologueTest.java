package dev.warpwright.lower.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.pass.LoweringException;
import dev.warpwright.lower.pass.PassListener;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What stands in front of all tiles is taken apart, and comes back in front of the kernel. */
class GridPrologueTest {
  private static final String PROGRAM =
      """
      primfunc gemm(A: f32[128, 64], B: f32[64, 128], C: f32[128, 128]) [consumers = 1, producers = 1] {
        alloc B_global: f32[128, 64] global
        tile.map (i in 64, j in 128) {
          B_global[j, i] = B[i, j]
        }
        persistent t in 4 [blocks = 2, columns = 2, order = "row"] {
          alloc C_shared: f32[64, 64] shared
          alloc acc: f32[64, 64] fragment
          tile.fill acc[0 +: 64, 0 +: 64] = 0.0f32
          pipeline k in 2 [stages = 2] {
            alloc A_shared: f32[64, 32] shared
            tile.copy A_shared[0 +: 64, 0 +: 32] <- A[t / 2 * 64 +: 64, k * 32 +: 32]
            alloc B_shared: f32[64, 32] shared
            tile.copy B_shared[0 +: 64, 0 +: 32] <- B_global[t % 2 * 64 +: 64, k * 32 +: 32]
            tile.mma acc[0 +: 64, 0 +: 64] += A_shared[0 +: 64, 0 +: 32] * B_shared[0 +: 64, 0 +: 32]^T [instr = "wgmma.m64n64k8.f32.tf32"]
          }
          tile.copy C_shared[0 +: 64, 0 +: 64] <- acc[0 +: 64, 0 +: 64]
          tile.copy C[t / 2 * 64 +: 64, t % 2 * 64 +: 64] <- C_shared[0 +: 64, 0 +: 64]
        }
      }
      """;

  private static PrimFunc program(String text) {
    return new IrParser(Intrinsics::find).file("program", text).primFuncs().getFirst();
  }

  @Test
  void whatIsPackedIsAnOperandForAllPassesBehind() {
    PrimFunc program = program(PROGRAM);
    PrimFunc rest = GridPrologue.of(program, PassListener.NONE).rest();
    assertThat(IrPrinter.text(rest))
        .contains("C: f32[128, 128], B_global: f32[128, 64]")
        .doesNotContain("tile.map", "alloc B_global");
    assertThat(Verifier.verify(rest)).isEmpty();
    // Behind it there is nothing of the kind.
    assertThat(GridPrologue.of(rest, PassListener.NONE).rest()).isSameAs(rest);
  }

  @Test
  void itComesBackInFrontOfTheKernel() {
    List<String> told = new ArrayList<>();
    Kernel kernel =
        Lowering.lower(program(PROGRAM), GpuTarget.SM_90A, (pass, text) -> told.add(pass));
    assertThat(told).startsWith("GridPrologue", "DistributeWork");
    assertThat(told.subList(told.indexOf("LowerTiles"), told.size()))
        .startsWith("LowerTiles", "GridPrologue", "Simplify");
    assertThat(Verifier.verify(kernel)).isEmpty();
    String text = IrPrinter.text(kernel);
    assertThat(text).contains("zero = \"prologueCounters\"");
    // Stored, published, waited for; then the first copy.
    assertThat(text.replaceAll("\\s+", " "))
        .matches(
            ".*st\\.global\\.x4\\(&B_global.*fence\\.proxy\\.async\\.global\\(\\).*"
                + "red\\.add\\.release\\.u32\\(&prologueCounters\\[2].*"
                + "load\\.acquire\\.u32\\(&prologueCounters\\[2]\\) < 2u32.*"
                + "fence\\.proxy\\.async\\.global\\(\\).*bulk\\.load\\.2d\\(.*&B_global.*");
  }

  @ParameterizedTest
  @CsvSource({
    "'B_global[j, i] = B[i, j]', 'B_global[j, i] = B[i, j] + 1.0f32'",
    "'f32[128, 64] global', 'f32[128, 66] global'",
    "'i in 64,', 'i in 60,'"
  })
  void otherThanAWholeTransposedMatrixIsRefused(String part, String other) {
    PrimFunc wrong = program(PROGRAM.replace(part, other));
    assertThat(IrPrinter.text(wrong)).isNotEqualTo(IrPrinter.text(program(PROGRAM)));
    assertThatThrownBy(() -> Lowering.lower(wrong, GpuTarget.SM_90A))
        .isInstanceOf(LoweringException.class)
        .hasMessageContaining("B_global");
  }
}
