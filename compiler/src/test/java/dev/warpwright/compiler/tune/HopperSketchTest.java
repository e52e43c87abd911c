package dev.warpwright.compiler.tune;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Point;
import dev.warpwright.tune.space.Rejected;
import dev.warpwright.tune.space.Space;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HopperSketchTest {
  @ParameterizedTest
  @CsvSource({
    "4096, 4096, 4096",
    "1, 14336, 4096",
    "16, 4096, 14336",
    "968, 1376, 2616",
    "127, 129, 136",
    "512, 512, 512",
    "1, 1, 8"
  })
  void randomPointsBecomeKernels(long m, long n, long k) {
    Space space = GemmSpace.of(GemmWorkload.nt(m, n, k, DType.BF16), GpuTarget.SM_90A, 132);
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    int built = 0;
    for (int i = 0; i < 60 && built < 4; i++) {
      Space.Drawn drawn = space.sample(random);
      Candidate candidate = drawn.candidate();
      if (candidate == null) {
        continue;
      }
      assertThat(space.fits(Point.parse(drawn.point().text()))).isTrue();
      try {
        Kernel kernel = candidate.kernel().get();
        Verifier.require(kernel);
        built++;
      } catch (Rejected rejected) {
        assertThat(rejected.getMessage()).as("seed %d, %s", seed, drawn.point()).isNotBlank();
      }
    }
    assertThat(built).as("seed %d", seed).isPositive();
  }
}
