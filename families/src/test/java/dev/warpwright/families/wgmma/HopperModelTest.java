package dev.warpwright.families.wgmma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Point;
import dev.warpwright.tune.space.Space;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.Precision;
import org.junit.jupiter.api.Test;

/** What the analytic model makes of measured kernels. */
final class HopperModelTest {
  /** A layer 512 wide: many tiles of short sums. */
  private static final Space LAYER =
      GemmSpace.of(
          new GemmWorkload(
              65536,
              512,
              512,
              Precision.F16,
              Precision.F16.operand(),
              GemmWorkload.Layout.NT,
              new Epilogue(1, 0, false, Activation.RELU)),
          GpuTarget.SM_90A,
          132);

  private static double micros(String point) {
    Candidate candidate = LAYER.replay(Point.parse(point)).candidate();
    assertThat(candidate).as(point).isNotNull();
    return candidate.features().predictedUs();
  }

  /** An SM that begins a block anew waits each time: 77.8 us and 61.6, 90.2 and 60.9 (H200). */
  @Test
  void blocksThatGoOnAreFaster() {
    String large = "sketch=wgmma tileM=128 consumers=2 tileN=256 tileK=64 minBlocks=1 stages=4";
    String small = "sketch=wgmma tileM=128 consumers=2 tileN=128 tileK=64 minBlocks=1 stages=6";
    String once = " cluster=1x1 persistent=no store=shared";
    String persistent = " cluster=1x1 persistent=yes order=hilbert store=shared division=whole";
    assertThat(micros(large + persistent)).isBetween(61.6 / 1.1, 61.6 * 1.1);
    assertThat(micros(large + once)).isGreaterThan(micros(large + persistent));
    assertThat(micros(small + once)).isGreaterThan(1.2 * micros(small + persistent));
  }

  @Test
  void theFirstChoiceGoesOn() {
    assertThat(TunedGemm.untuned(LAYER).point().option("persistent")).isEqualTo("yes");
  }
}
