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

final class GuardedCopiesTest {
  private static String text(String inside) {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "test",
                String.format(
                    Locale.ROOT,
                    """
                    kernel k(A: f32[4096], At: i32[8], C: f32[4096], n: i32 in 1..8)
                        grid(bx = 2) block(tid = 128) {
                      alloc s: f32[4, 512] shared
                      for step in 8 {
                        %s
                      }
                    }
                    """,
                    inside));
    assertThat(Verifier.verify(kernel)).isEmpty();
    return CudaPrinter.print(kernel, GpuTarget.SM_80);
  }

  @Test
  void eachCopyCarriesTheCondition() {
    String text =
        text(
            """
            if step < n {
              unroll i in 4 {
                cp.async.4(&s[i, tid], &A[step * 512 + i * 128 + tid], 4)
              }
              cp.async.16(&s[0, tid * 4], &A[step * 512 + tid * 4], 16)
            }
            cp.async.4(&s[0, tid], &A[tid], 4)
            """);
    assertThat(text)
        .contains(
            """
                const bool copies = step < n;
            #pragma unroll
                for (int i = 0; i < 4; ++i) {
                  cp_async_4_if(copies, &s[i * 512 + tid], &A[step * 512 + i * 128 + tid], 4);
                }
                cp_async_16_if(copies, &s[tid * 4], &A[step * 512 + tid * 4], 16);
            """)
        .as("what follows does not depend on it")
        .contains("    cp_async_4(&s[tid], &A[tid], 4);\n")
        .as("the instruction has the predicate")
        .contains("\"@issue cp.async.cg.shared.global [%1], [%2], 16, %3; }\"")
        .doesNotContain("if (");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "if step < n { for i in 4 { cp.async.4(&s[i, tid], &A[i * 128 + tid], 4) } }",
        "if step < n { cp.async.4(&s[0, tid], &A[tid], 4) cp.async.commit() }",
        "if step < n { cp.async.4(&s[0, tid], &A[At[step] + tid], 4) }",
        "if step < n { cp.async.4(&s[0, tid], &A[tid], 4) } else { s[1, tid] = 0.0f32 }",
      })
  void aBranchStaysAroundAnythingElse(String inside) {
    assertThat(text(inside)).contains("if (step < n) {").doesNotContain("_if(");
  }

  @Test
  void aKernelMayNotTakeTheFunctionsName() {
    assertThat(Names.kernel("cp_async_16_if")).isNotEqualTo("cp_async_16_if");
  }
}
