package dev.warpwright.families.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warpwright.families.GemmTiles;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.GemmWorkload;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Waves of blocks, by the tiles that a point says, are those of the kernel's launch. */
class GemmTilesTest {
  private static final int SMS = 132;
  private static final int LAUNCHED = 12;

  @ParameterizedTest
  @CsvSource({
    "BF16, sm_90a, 1000, 2000, 512, 1",
    "BF16, sm_90a, 200, 264, 512, 3",
    "BF16, sm_80, 1000, 2000, 512, 1",
    "F32, sm_90a, 1000, 2000, 512, 1",
    "F32, sm_90a, 4, 2000, 512, 1",
  })
  void wavesAreThoseOfTheLaunch(DType type, String target, long m, long n, long k, int batch) {
    GemmWorkload gemm = GemmWorkload.nt(m, n, k, type);
    GemmWorkload workload = batch == 1 ? gemm : gemm.times(Batch.of(batch));
    GpuTarget gpu = GpuTarget.find(target).orElseThrow();
    Space space = GemmSpace.of(workload, gpu, SMS);
    Random random = new Random(1);
    int launched = 0;
    while (launched < LAUNCHED) {
      Space.Drawn drawn = space.sample(random);
      if (drawn.candidate() == null) {
        continue;
      }
      Point point = drawn.point();
      GemmTiles tiles = GemmSpace.tiles(workload, gpu, SMS, point);
      if (tiles.persistent() || tiles.turns()) {
        // As many blocks as run at once take them all.
        continue;
      }
      Kernel kernel = GemmSpace.schedule(workload, gpu, SMS, point).kernel();
      double blocks = 1;
      for (ThreadAxis axis :
          new ThreadAxis[] {ThreadAxis.BLOCK_X, ThreadAxis.BLOCK_Y, ThreadAxis.BLOCK_Z}) {
        blocks *= ScalarEval.eval(kernel.extent(axis), Map.of());
      }
      double cluster = tiles.clusterM() * tiles.clusterN();
      assertThat(tiles.waves(workload, SMS))
          .as("%s", point)
          .isCloseTo(blocks / cluster / tiles.atOnce(SMS), within(1e-9));
      launched++;
    }
  }
}
