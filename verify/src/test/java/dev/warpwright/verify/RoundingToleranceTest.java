package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.intrinsic.Intrinsics;
import org.junit.jupiter.api.Test;

/** How far a GPU may be from the interpreter. */
final class RoundingToleranceTest {
  private static double tolerance(String value, int buffer) {
    Kernel kernel =
        new IrParser(Intrinsics::find)
            .kernel(
                "rounded",
                """
                kernel rounded(X: bf16[32], Y: f32[32], N: i32[32]) grid(bx = 1) block(tid = 32) {
                  Y[tid] = VALUE
                  N[tid] = 1
                }
                """
                    .replace("VALUE", value));
    return RoundingTolerance.of(kernel, kernel.buffers().get(buffer));
  }

  @Test
  void whatIsReadInFewDigitsIsExact() {
    assertThat(tolerance("f32(X[tid])", 1)).isEqualTo(RoundingTolerance.of(DType.F32));
  }

  @Test
  void whatIsRoundedOnTheWayMayDifferByItsLastPlace() {
    assertThat(tolerance("f32(bf16(exp(f32(X[tid]))))", 1))
        .isEqualTo(RoundingTolerance.of(DType.BF16))
        .isEqualTo(0x1p-7);
  }

  @Test
  void integersAreExact() {
    assertThat(tolerance("f32(bf16(exp(f32(X[tid]))))", 2)).isZero();
  }
}
