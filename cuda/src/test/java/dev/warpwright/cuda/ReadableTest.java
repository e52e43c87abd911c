package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.text.IrParser;
import dev.warpwright.target.GpuTarget;
import org.junit.jupiter.api.Test;

/** What makes printed kernels read as if somebody had written them. */
final class ReadableTest {
  private static String print(String kernel) {
    return CudaPrinter.print(new IrParser().kernel("test", kernel), GpuTarget.SM_80);
  }

  @Test
  void aValueHasOneName() {
    String text =
        print(
            """
            kernel names(A: f32[64], B: f32[64], n: i32 in 0..64) grid(bx = 1) block(tx = 64) {
              let row: i32 = tx / 8 + n
              A[row] = 1.0f32
              if tx < 8 {
                let again: i32 = tx / 8 + n
                let other: i32 = tx / 8 + n + again
                B[again] = 2.0f32
                B[other] = 2.0f32
              }
              let count: i32 = tx / 8 + n
              let loaded: f32 = A[0]
              A[count] = loaded
              let later: f32 = A[0]
              A[count + 1] = later
            }
            """);
    assertThat(text)
        .contains("const int row = tx / 8 + n;")
        .doesNotContain("again")
        .doesNotContain("count")
        .contains("const int other = tx / 8 + n + row;")
        .contains("const float later = A[0];")
        .contains("A[row + 1] = later;");
  }

  @Test
  void theCommentStandsAbove() {
    String text =
        print(
            """
            // Fills A.
            kernel fill(A: f32[64]) grid(bx = 1) block(tx = 64) {
              A[tx] = 1.0f32
            }
            """);
    assertThat(text).contains("// Fills A.\n// Grid 1, block 64.\nextern");
  }
}
