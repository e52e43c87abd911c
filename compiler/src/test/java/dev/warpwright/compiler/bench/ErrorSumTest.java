package dev.warpwright.compiler.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
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

  private double difference(NdArray x) {
    Kernel kernel = ErrorSum.ofDifference(output);
    NdArray sums = NdArray.zeros(DType.F64, ErrorSum.THREADS);
    new GridInterpreter(kernel, GridOptions.DEFAULT)
        .run(Arguments.inOrder(kernel.params(), x, reference, sums));
    return sum(sums);
  }

  private static double sum(NdArray sums) {
    double sum = 0;
    for (int i = 0; i < sums.size(); i++) {
      sum += sums.element(i);
    }
    return sum;
  }

  @Test
  void squaresOfAllDifferencesAreSummed() {
    NdArray x = NdArray.random(DType.BF16, 2, COUNT);
    double expected = 0;
    for (int i = 0; i < COUNT; i++) {
      double d = x.element(i) - reference.element(i);
      expected += d * d;
    }
    assertThat(difference(x)).isCloseTo(expected, within(1e-9 * expected));
  }

  @Test
  void oneElementThatIsNotFiniteShows() {
    NdArray x = NdArray.random(DType.BF16, 2, COUNT);
    x.setElement(COUNT - 1, Double.NaN);
    assertThat(difference(x)).isNaN();
    x.setElement(COUNT - 1, Double.NEGATIVE_INFINITY);
    assertThat(difference(x)).isInfinite();
  }

  @Test
  void squaresOfTheReferenceAreSummed() {
    Kernel kernel = ErrorSum.ofReference(output);
    NdArray sums = NdArray.zeros(DType.F64, ErrorSum.THREADS);
    new GridInterpreter(kernel, GridOptions.DEFAULT)
        .run(Arguments.inOrder(kernel.params(), reference, sums));
    double expected = 0;
    for (int i = 0; i < COUNT; i++) {
      expected += reference.element(i) * reference.element(i);
    }
    assertThat(sum(sums)).isCloseTo(expected, within(1e-9 * expected));
  }
}
