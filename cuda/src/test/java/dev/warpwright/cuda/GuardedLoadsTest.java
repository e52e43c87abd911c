package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class GuardedLoadsTest {
  private static String text(String inside) {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                String.format(
                    Locale.ROOT,
                    """
                    kernel k(A: f32[4096], H: f16[8192], At: i32[8], C: f32[4096], n: i32 in 1..8)
                        grid(bx = 2) block(tid = 128) {
                      alloc r: f32[8] local
                      alloc q: u32[4] local
                      for step in 8 {
                        %s
                        C[tid] = r[0]
                      }
                    }
                    """,
                    inside));
    assertThat(Verifier.verify(kernel)).isEmpty();
    return CudaPrinter.print(kernel, GpuTarget.SM_75);
  }

  @Test
  void anElementAndAVectorCarryTheCondition() {
    assertThat(text("r[0] = select(step < n, A[step * 512 + tid], 0.0f32)"))
        .contains("r[0] = load_if(step < n, &A[step * 512 + tid]);")
        .contains("@p ld.global.nc.b32");
    assertThat(
            text(
                """
                r[ramp(0, 1, 4)] = select(broadcast(step < n, 4),
                    A[ramp(step * 512 + tid * 4, 1, 4)], broadcast(0.0f32, 4))
                """))
        .contains("load_if(step < n, (const Vec<float, 4>*)&A[step * 512 + tid * 4]);");
  }

  @Test
  void bitsMayBecomeAnotherType() {
    assertThat(
            text(
                """
                q[ramp(0, 1, 4)] = select(step < n,
                    bitcast(u32x4, H[ramp(step * 1024 + tid * 8, 1, 8)]), broadcast(0u32, 4))
                r[0] = bitcast(f32, q[0])
                """))
        .contains("load_if(step < n, (const Vec<unsigned, 4>*)&H[step * 1024 + tid * 8]);");
    assertThat(text("q[0] = select(step < n, bitcast(u32, A[tid]), 0u32) r[0] = f32(q[0])"))
        .contains("q[0] = load_if(step < n, (const unsigned*)&A[tid]);");
    // Two halves may lie where no 4 bytes can be loaded.
    assertThat(
            text(
                "q[0] = select(step < n, bitcast(u32, H[ramp(tid + 1, 1, 2)]), 0u32)"
                    + " r[0] = f32(q[0])"))
        .doesNotContain("load_if");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "r[0] = select(step < n, A[tid], 1.0f32)",
        "r[0] = select(step < n, A[tid], -0.0f32)",
        "r[0] = select(step < n, A[At[step] + tid], 0.0f32)",
        "r[0] = select(At[step] < n, A[tid], 0.0f32)",
        "r[0] = select(step < n, C[tid + 128], 0.0f32)",
        "r[0] = select(step < n, r[1], 0.0f32)",
      })
  void anythingElseIsAChoice(String inside) {
    assertThat(text("r[1] = 0.0f32 " + inside)).contains(" ? ").doesNotContain("load_if");
  }

  @Test
  void aKernelMayNotTakeTheFunctionsName() {
    assertThat(Names.kernel("load_if")).isNotEqualTo("load_if");
  }
}
