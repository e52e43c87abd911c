package dev.warpwright.workload.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.measure.SampleKernels;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KernelSpecializationTest {
  private static final Kernel SCALE =
      SampleKernels.parse(
          """
          kernel scale(x: f32[n, c], y: f32[n, c], n: i32 in 1..1000, c: i32 in 1..64)
              grid(bx = (n + 3) / 4) block(tx = 64) [fast = 1] {
            alloc t: f32[2] local
            if tx < c {
              for i in 4 {
                if bx * 4 + i < n {
                  t[i % 2] = x[bx * 4 + i, tx]
                  y[bx * 4 + i, tx] = t[i % 2] * 2.0f32
                }
              }
            }
          }
          """);

  @Test
  void scalarsBecomeConstantsEverywhere() {
    Kernel kernel = KernelSpecialization.specialize(SCALE, Map.of("n", 8L, "c", 64L));
    assertThat(IrPrinter.text(kernel))
        .isEqualTo(
            """
            kernel scale(x: f32[8, 64], y: f32[8, 64]) grid(bx = 2) block(tx = 64) [fast = 1] {
              alloc t: f32[2] local
              for i in 4 {
                t[i % 2] = x[bx * 4 + i, tx]
                y[bx * 4 + i, tx] = t[i % 2] * 2.0f32
              }
            }
            """);
    assertThat(kernel.scalars()).isEmpty();
  }

  @Test
  void othersStayParameters() {
    Kernel kernel = KernelSpecialization.specialize(SCALE, Map.of("c", 3L));
    assertThat(IrPrinter.text(kernel))
        .startsWith(
            "kernel scale(x: f32[n, 3], y: f32[n, 3], n: i32 in 1..1000) grid(bx = (n + 3) / 4)")
        .contains("if tx < 3");
  }

  @Test
  void wrongNamesAndValuesAreRefused() {
    assertThatThrownBy(() -> KernelSpecialization.specialize(SCALE, Map.of("M", 8L)))
        .isInstanceOf(UserError.class)
        .hasMessage("kernel scale has no scalar M; it has n, c");
    assertThatThrownBy(() -> KernelSpecialization.specialize(SCALE, Map.of("c", 65L)))
        .isInstanceOf(UserError.class)
        .hasMessage("c=65: kernel scale takes 1 to 64");
  }
}
