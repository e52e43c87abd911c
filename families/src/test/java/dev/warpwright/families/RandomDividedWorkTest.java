package dev.warpwright.families;

import dev.warpwright.families.mma.AmpereConfig;
import dev.warpwright.families.mma.AmpereGemm;
import dev.warpwright.families.wgmma.HopperConfig;
import dev.warpwright.families.wgmma.HopperGemm;
import dev.warpwright.ir.order.BlockOrder;
import dev.warpwright.ir.order.WorkDivision;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Batch;
import dev.warpwright.workload.GemmWorkload;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Products of random sizes, divided at random. */
class RandomDividedWorkTest {
  private static final long SEED = Long.getLong("seed", System.nanoTime());
  private static final int CASES = Integer.getInteger("cases", 4);
  private static final long[] SIZES = {1, 3, 17, 64, 65, 100, 127};

  @Test
  void hopper() {
    System.out.println("seed " + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < CASES; i++) {
      boolean few = random.nextBoolean();
      int blocks = random.nextInt(1, 7);
      HopperConfig config =
          few
              ? new HopperConfig(16, 64, 64, 3, 1, 1, 1, new BlockOrder.Row(), blocks, 1, true)
              : HopperConfig.pairs(64, 64, 3, 1, blocks).withCluster(1, 1);
      long m = few ? random.nextLong(1, 20) : size(random);
      GemmWorkload workload =
          GemmWorkload.nt(m, size(random), 8 * random.nextLong(1, 50), DType.BF16);
      if (random.nextInt(3) == 0) {
        workload = workload.times(new Batch(2, false, random.nextBoolean()));
      }
      Simulated.assertSame(HopperGemm.schedule(workload, config.withDivision(division(random))));
    }
  }

  @Test
  void mmaSync() {
    System.out.println("seed " + SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    AmpereConfig config =
        new AmpereConfig(64, 64, 32, 3, 2, 2, 1, new BlockOrder.Grouped(2), false);
    for (int i = 0; i < CASES; i++) {
      GemmWorkload workload =
          GemmWorkload.nt(size(random), size(random), random.nextLong(1, 300), DType.F16);
      if (random.nextInt(3) == 0) {
        workload = workload.times(new Batch(2, random.nextBoolean(), false));
      }
      WorkDivision division = division(random);
      boolean grid = division instanceof WorkDivision.Parts && random.nextBoolean();
      Simulated.assertSame(
          AmpereGemm.schedule(
              workload,
              config.withDivision(division, grid ? 0 : random.nextInt(1, 7)),
              GpuTarget.SM_80));
    }
  }

  private static long size(SplittableRandom random) {
    return SIZES[random.nextInt(SIZES.length)];
  }

  private static WorkDivision division(SplittableRandom random) {
    return random.nextBoolean()
        ? new WorkDivision.Parts(random.nextInt(2, 6))
        : new WorkDivision.Stream(random.nextInt(3));
  }
}
