package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Features;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.MeasuringTimes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Where winners are measured. */
@Isolated("takes the driver's place in this process")
final class WinnersTest {
  private static final TunedGemm WINNER =
      new TunedGemm(
          new Candidate(
              Point.EMPTY,
              new Features(List.of("f"), new double[] {1}, 1),
              () -> {
                throw new AssertionError("nobody looks at it");
              },
              Map.of()),
          TunedGemm.Origin.TUNED);

  private static TuningDevice device(String... ids) {
    return new TuningDevice("fake", 132, GpuTarget.SM_80, TuneActionTest.ENVIRONMENT, List.of(ids));
  }

  @Test
  void aContextIsKeptFromOneWinnerToTheNextUnlessAKernelBrokeIt() throws Exception {
    try (FakeGpu gpu = FakeGpu.install()) {
      String id = "GPU-" + CudaDriver.require().devices().getFirst().uuid();
      List<Integer> others = new ArrayList<>();
      try (Winners winners = new Winners(device(id), number -> {})) {
        Winners.Place place = winners.places().getFirst();
        PerfAction.Bench good =
            place.timed(
                (kernel, rounds, baselineKernels, here, progress) -> {
                  here.open().close();
                  others.add(gpu.liveContexts());
                  return TuneActionTest.verified();
                });
        PerfAction.Bench faulty =
            place.timed(
                (kernel, rounds, baselineKernels, here, progress) -> {
                  throw new CandidateFailure(FailureReason.FAULT, "illegal address", true);
                });
        for (int i = 0; i < 3; i++) {
          good.of(WINNER, 9, List.of(), place.device(), line -> {});
        }
        assertThat(gpu.contextsMade()).isEqualTo(1);
        assertThatThrownBy(() -> faulty.of(WINNER, 9, List.of(), place.device(), line -> {}))
            .isInstanceOf(CandidateFailure.class);
        assertThat(gpu.liveContexts()).isZero();
        good.of(WINNER, 9, List.of(), place.device(), line -> {});
        assertThat(gpu.contextsMade()).isEqualTo(2);
        assertThat(others).containsOnly(1);
      }
      assertThat(gpu.liveContexts()).isZero();
    }
  }

  @Test
  void timesAreToldOfEachMeasurersGpus() {
    MeasuringTimes some = new MeasuringTimes(1, 2, 3, 4, 5, 6, 7, 8);
    try (Winners winners = new Winners(device("GPU-a", "GPU-b", "GPU-c"), number -> {})) {
      assertThat(winners.times(List.of(Optional.of(some), Optional.empty())))
          .extracting(Winners.DeviceTimes::device)
          .containsExactly("GPU-a, GPU-c", "GPU-b");
      assertThat(winners.times(List.of(Optional.of(some), Optional.empty())))
          .extracting(Winners.DeviceTimes::line)
          .containsExactly(
              "GPU-a, GPU-c: 21.0 s of searches (timing 1.0, verifying 2.0, data and references"
                  + " 3.0, loading 4.0, waiting for compilers 5.0, idle 6.0; 8 kernels compiled in"
                  + " 7 s of all compilers), 0.0 s of winners beside their baselines",
              "GPU-b: 0.0 s of winners beside their baselines");
    }
  }
}
