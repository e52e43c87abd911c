package dev.warpwright.measure.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.GridInterpreter;
import dev.warpwright.sim.GridOptions;
import dev.warpwright.sim.NdArray;
import org.junit.jupiter.api.Test;

class ErrorSumTest {
  // More elements than threads.
  private static final int COUNT = 20_001;

  private final Buffer output = Buffer.of("C", DType.BF16, Scope.GLOBAL, 1, COUNT);
  private final NdArray reference = NdArray.random(DType.F64, 1, COUNT);

  private final NdArray none = NdArray.zeros(DType.F32, COUNT);

  private OutputError error(NdArray x) {
    Kernel kernel = ErrorSum.of(output);
    NdArray sums = NdArray.zeros(DType.F64, ErrorSum.FIGURES * ErrorSum.THREADS);
    new GridInterpreter(kernel, GridOptions.DEFAULT)
        .run(Arguments.inOrder(kernel.params(), x, reference, none, sums));
    return ErrorSum.error(sums.toDoubles());
  }

  @Test
  void squaresOfAllDifferencesAreSummed() {
    NdArray x = NdArray.random(DType.BF16, 2, COUNT);
    double expected = 0;
    for (int i = 0; i < COUNT; i++) {
      double d = x.element(i) - reference.element(i);
      expected += d * d;
    }
    assertThat(error(x).errors()).isCloseTo(expected, within(1e-9 * expected));
  }

  @Test
  void oneElementThatIsNotFiniteShows() {
    NdArray x = NdArray.random(DType.BF16, 2, COUNT);
    x.setElement(COUNT - 1, Double.NaN);
    assertThat(error(x).within(1e30)).isFalse();
    x.setElement(COUNT - 1, Double.NEGATIVE_INFINITY);
    assertThat(error(x).within(1e30)).isFalse();
  }

  @Test
  void squaresOfTheReferenceAreSummed() {
    double expected = 0;
    for (int i = 0; i < COUNT; i++) {
      expected += reference.element(i) * reference.element(i);
    }
    OutputError error = error(NdArray.random(DType.BF16, 2, COUNT));
    assertThat(error.norm()).isCloseTo(expected, within(1e-9 * expected));
  }

  /** The last of them is in a group of less than 64, which only counts element by element. */
  @Test
  void oneElementThatIsOffShows() {
    NdArray x = NdArray.zeros(DType.BF16, COUNT);
    for (int i = 0; i < COUNT; i++) {
      x.setElement(i, reference.element(i));
    }
    assertThat(error(x).within(2e-2)).isTrue();
    for (int at : new int[] {0, 12_345, COUNT - 1}) {
      x.setElement(at, 1.02 * reference.element(at));
      assertThat(error(x).within(2e-2)).isFalse();
      assertThat(error(x).deviations().element()).isBetween(3.0, 8.0);
      x.setElement(at, reference.element(at));
    }
  }
}
