package dev.warpwright.measure.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.NdArray;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Data for kernels in text. */
final class KernelDataTest {
  /** Two grids of tiles: 2 of 1, then 1 of 2 in each row. */
  private static final String TWO_GRIDS =
      """
      kernel two(A: f32[8], order: i32[6], counters: u32[4]) grid(bx = 1) block(tid = 32)
          [columns = 2, order = "rows", rows = 2, secondColumns = 1, secondRows = 2,
           zero = "ZERO"] {
        if tid < 8 {
          A[tid] = 1.0f32
        }
      }
      """;

  private static Kernel kernel(String zero) {
    return new IrParser(Intrinsics::find).kernel("two", TWO_GRIDS.replace("ZERO", zero));
  }

  private static NdArray array(Kernel kernel, Arguments arguments, String name) {
    Buffer buffer =
        kernel.buffers().stream().filter(b -> b.name().equals(name)).findFirst().orElseThrow();
    return arguments.get(buffer);
  }

  @Test
  void countersAreZeroAndTilesAreListedWithoutAWorkload() {
    Kernel kernel = kernel("counters");
    Arguments arguments = KernelData.random(kernel, Map.of(), 7);
    assertThat(array(kernel, arguments, "counters").toDoubles()).containsOnly(0);
    double second = Integer.MIN_VALUE;
    assertThat(array(kernel, arguments, "order").toDoubles())
        .as("every tile of both grids, once")
        .containsExactlyInAnyOrder(0, 1, 1 << 16, 1 << 16 | 1, second, second + (1 << 16));
    assertThat(array(kernel, arguments, "A").toDoubles()).doesNotContain(0);
  }

  @Test
  void aNameThatIsNoBufferIsRefused() {
    Kernel kernel = kernel("contours");
    assertThatThrownBy(() -> KernelData.random(kernel, Map.of(), 7))
        .isInstanceOf(UserError.class)
        .hasMessage("kernel two: zero names no buffer: contours");
  }
}
