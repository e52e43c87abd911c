package dev.warpwright.measure.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutputErrorTest {
  private final long seed = new Random().nextLong();

  /** Nothing but the rounding of the result. */
  private static HostMatrix none(HostMatrix like) {
    return HostMatrix.zeros(DType.F32, like.rows(), like.columns());
  }

  @Test
  void roundingToBf16IsMeasured() {
    HostMatrix exact =
        HostMatrix.random(Buffer.of("R", DType.F32, Scope.GLOBAL, 300, 401), 2, seed);
    HostMatrix rounded =
        HostMatrix.random(Buffer.of("R", DType.BF16, Scope.GLOBAL, 300, 401), 2, seed);
    OutputError error = OutputError.of(rounded, exact, none(exact), 0);
    // Half a unit in the last of 8 bits, evenly distributed: 2^-9 / sqrt(3) of the larger
    // mantissas.
    assertThat(error.relative()).as("seed %d", seed).isBetween(1e-3, 2.5e-3);
    assertThat(error.within(4e-3)).isTrue();
    assertThat(Math.sqrt(error.norm() / exact.count())).isCloseTo(2, within(0.05));
  }

  @Test
  void oneWrongOrMissingElementIsSeen() {
    Buffer buffer = Buffer.of("R", DType.F32, Scope.GLOBAL, 100, 100);
    HostMatrix exact = HostMatrix.random(buffer, 1, seed);
    HostMatrix wrong = HostMatrix.random(buffer, 1, seed);
    assertThat(OutputError.of(wrong, exact, none(exact), 0).relative()).isZero();
    ((float[]) wrong.elements())[1234] += 100;
    assertThat(OutputError.of(wrong, exact, none(exact), 0).relative()).isCloseTo(1, within(0.1));
    assertThat(OutputError.of(wrong, exact, none(exact), 0).maxAbs()).isCloseTo(100, within(1e-4));
    assertThat(OutputError.of(wrong, exact, none(exact), 10).worst()).isEqualTo(1244);
    ((float[]) wrong.elements())[9000] = Float.NaN;
    ((float[]) wrong.elements())[9001] = Float.NaN;
    assertThat(OutputError.of(wrong, exact, none(exact), 0).worst()).isEqualTo(9000);
    assertThat(OutputError.of(wrong, exact, none(exact), 0).nonFinite()).isEqualTo(2);
    ((float[]) wrong.elements())[1234] = Float.NaN;
    assertThat(OutputError.of(wrong, exact, none(exact), 0).relative()).isZero();
    assertThat(OutputError.of(wrong, exact, none(exact), 0).within(1)).isFalse();
  }
}
