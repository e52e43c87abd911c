package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Numerics;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is allowed to sums in f16, beside what rounding after every group does to random ones. */
class HalfAccumulatorsTest {
  private static final long SEED = Long.getLong("seed", 20_261_122);

  private static double tolerance(long k, Precision precision) {
    Buffer a = Buffer.of("A", DType.F16, Scope.GLOBAL, 8, k);
    Buffer b = Buffer.of("B", DType.F16, Scope.GLOBAL, 8, k);
    Buffer c = Buffer.of("C", DType.F16, Scope.GLOBAL, 8, 8);
    return new BoundWorkload.Gemm(a, b, c, GemmWorkload.Layout.NT, precision).tolerance();
  }

  /** The error of some hundred sums that are rounded after so many products. */
  private static double error(int k, int group) {
    Random random = new Random(SEED);
    double errors = 0;
    double squares = 0;
    for (int element = 0; element < 300; element++) {
      double exact = 0;
      double half = 0;
      for (int first = 0; first < k; first += group) {
        double products = 0;
        for (int i = 0; i < group; i++) {
          products +=
              Numerics.round(DType.F16, random.nextGaussian())
                  * Numerics.round(DType.F16, random.nextGaussian());
        }
        exact += products;
        half = Numerics.round(DType.F16, half + products);
      }
      errors += (half - exact) * (half - exact);
      squares += exact * exact;
    }
    return Math.sqrt(errors / squares);
  }

  @ParameterizedTest
  @ValueSource(ints = {1024, 4096, 16384})
  void isAllowedWithAMarginThatStaysTheSame(int k) {
    double allowed = tolerance(k, Precision.F16_ACCUMULATORS);
    // A rounding is about 0.4 of the largest in the mean.
    assertThat(error(k, 8)).as("K=%d, seed %d", k, SEED).isBetween(allowed / 6, allowed / 1.5);
    // No instruction rounds after every product: that is nearly all that is allowed.
    assertThat(error(k, 1)).as("K=%d, seed %d", k, SEED).isGreaterThan(allowed / 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 4096, 16384})
  void nothingElseIsAllowedMore(int k) {
    assertThat(tolerance(k, Precision.F16)).isEqualTo(4e-3);
  }
}
