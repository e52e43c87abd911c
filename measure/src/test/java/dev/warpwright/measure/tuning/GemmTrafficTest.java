package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.ir.type.DType;
import dev.warpwright.perf.TileTraffic;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever computes a GEMM, on tensor cores or by threads, multiplies as often as it has to. */
class GemmTrafficTest {
  private static final int SMS = 132;
  private static final int SAMPLES = 8;

  @ParameterizedTest
  @CsvSource({"BF16, sm_90a", "BF16, sm_80", "F32, sm_90a", "F32, sm_75"})
  void countsMultiplyAdds(DType type, String target) {
    long m = 256;
    long n = 512;
    long k = 1024;
    GemmWorkload gemm = GemmWorkload.nt(m, n, k, type);
    GpuTarget gpu = GpuTarget.find(target).orElseThrow();
    Space space = GemmSpace.of(gemm, gpu, SMS);
    Random random = new Random(2);
    int counted = 0;
    while (counted < SAMPLES) {
      Space.Drawn drawn = space.sample(random);
      if (drawn.candidate() == null) {
        continue;
      }
      Point point = drawn.point();
      ScheduledGemm scheduled = GemmSpace.schedule(gemm, gpu, SMS, point);
      TileTraffic traffic = TileTraffic.of(scheduled.tiles(), Map.of());
      // Tiles over the edge are padded.
      assertThat(traffic.multiplyAdds()).as("%s", point).isBetween(m * n * k, 8 * m * n * k);
      assertThat(traffic.tileBytes())
          .as("%s", point)
          .isGreaterThanOrEqualTo((m * k + n * k + m * n) * type.bytes());
      counted++;
    }
  }
}
