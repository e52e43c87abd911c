package dev.warpwright.measure.baseline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.FakeBench;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.fake.FakeCublas;
import dev.warpwright.measure.fake.FakeCublas.Algorithm;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** How libraries are timed, checked and left out, on a device whose every microsecond is known. */
@Isolated("takes the driver's place in this process")
final class BaselinesTest {
  private static final Kernel OURS = FakeBench.gemm("ours", "0.0");
  private static final int ROUNDS = 6;

  private final List<String> progress = new ArrayList<>();
  private FakeGpu gpu;

  @AfterEach
  void giveBack() {
    assertThat(gpu.liveBuffers()).as("buffers that nobody freed").isZero();
    gpu.close();
  }

  private KernelReport bench(FakeGpu device, Kernel kernel) {
    gpu = FakeBench.teach(device, kernel, FakeBench.SHAPE).takes("ours", 10);
    try (Gpu here = Gpu.require(GpuTarget.SM_80)) {
      return KernelBench.run(
          new KernelBench.Request(kernel, FakeBench.SHAPE, 3, ROUNDS, 0), here, progress::add);
    }
  }

  private KernelReport bench(Algorithm own, Algorithm... suggestions) {
    return bench(FakeGpu.install(new FakeCublas(own, List.of(suggestions))), OURS);
  }

  @Test
  void theFastestSuggestionIsTheOneThatIsFastestInGraphs() {
    // A call costs 100 us, against which these differences are nothing.
    KernelReport report =
        bench(
            new Algorithm(12, 0),
            new Algorithm(9.2, 0),
            new Algorithm(9.0, 0),
            new Algorithm(9.1, 0),
            new Algorithm(40, 0));
    assertThat(report.verified()).isTrue();
    assertThat(report.baselines())
        .extracting(KernelReport.Baseline::name)
        .containsExactly("cuBLAS 13.1.2", "cuBLASLt (best of 4 suggestions)");
    KernelReport.Baseline light = report.baselines().getLast();
    assertThat(light.times().graphUs()).isCloseTo(9.0, within());
    assertThat(light.ratio()).isCloseTo(0.9, within());
    assertThat(report.baselines().getFirst().ratio()).isCloseTo(1.2, within());
    assertThat(report.excluded()).isEmpty();
    assertThat(light.times().launchUs()).isCloseTo(109, within());
  }

  private static org.assertj.core.data.Offset<Double> within() {
    return org.assertj.core.data.Offset.offset(1e-3);
  }

  @Test
  void ourKernelIsNotAlwaysFirst() {
    KernelReport report = bench(new Algorithm(12, 0), new Algorithm(9, 0));
    assertThat(report.verified()).isTrue();
    // The replays of the comparison are the last ones; two rounds of warm-up come before.
    List<String> replays = gpu.replays();
    List<String> compared = replays.subList(replays.size() - 3 * (ROUNDS + 2), replays.size());
    List<String> first = new ArrayList<>();
    for (int round = 0; round < ROUNDS + 2; round++) {
      assertThat(compared.subList(3 * round, 3 * round + 3))
          .containsExactlyInAnyOrder("ours", "cublas", "lt0");
      first.add(compared.get(3 * round));
    }
    assertThat(first.subList(0, 6))
        .containsExactly("ours", "cublas", "lt0", "ours", "cublas", "lt0");
  }

  @Test
  void aSuggestionThatMissesTheToleranceGivesWayAndIsNamed() {
    KernelReport report =
        bench(
            new Algorithm(12, 0),
            new Algorithm(5, 1e-2),
            new Algorithm(6, 1e-3),
            new Algorithm(8, 0),
            new Algorithm(9, 0));
    assertThat(report.baselines())
        .extracting(KernelReport.Baseline::name)
        .containsExactly("cuBLAS 13.1.2", "cuBLASLt (no. 3 of 4 suggestions)");
    assertThat(report.baselines().getLast().times().graphUs()).isCloseTo(8, within());
    assertThat(report.excluded()).hasSize(1);
    KernelReport.Excluded excluded = report.excluded().getFirst();
    assertThat(excluded.name()).isEqualTo("cuBLASLt (best of 4 suggestions)");
    assertThat(excluded.relError()).isCloseTo(1e-2, org.assertj.core.data.Offset.offset(1e-4));
    assertThat(excluded.times().graphUs()).isCloseTo(5, within());
    assertThat(excluded.ratio()).isCloseTo(0.5, within());
    assertThat(progress)
        .anyMatch(
            line -> line.startsWith("cuBLASLt (best of 4 suggestions) is no baseline: relative"));
  }

  @Test
  void librariesThatAllMissTheToleranceAreTimedAndCountForNobody() {
    KernelReport report =
        bench(new Algorithm(7, 2e-2), new Algorithm(5, 1e-2), new Algorithm(6, 1e-2));
    assertThat(report.verified()).isTrue();
    assertThat(report.baselines()).isEmpty();
    assertThat(report.excluded())
        .extracting(KernelReport.Excluded::name)
        .containsExactly("cuBLAS 13.1.2", "cuBLASLt (best of 2 suggestions)");
    assertThat(report.excluded())
        .extracting(excluded -> Math.round(excluded.times().graphUs()))
        .containsExactly(7L, 5L);
  }

  @Test
  void whatALibraryRefusesIsNoSuggestion() {
    KernelReport report =
        bench(new Algorithm(12, 0, true), new Algorithm(5, 0, true), new Algorithm(8, 0));
    assertThat(report.baselines())
        .extracting(KernelReport.Baseline::name)
        .containsExactly("cuBLASLt (best of 2 suggestions)");
    assertThat(report.baselines().getFirst().times().graphUs()).isCloseTo(8, within());
    assertThat(progress)
        .anyMatch(line -> line.startsWith("cuBLAS 13.1.2 does not take this: cublasGemmEx of"));
  }

  @Test
  void withoutLibrariesThereIsNoBaseline() {
    KernelReport report = bench(FakeGpu.install(), OURS);
    assertThat(report.verified()).isTrue();
    assertThat(report.baselines()).isEmpty();
    assertThat(progress).contains("cuBLAS is not installed: there is no baseline");
    Quantiles times = report.timing().times().graph();
    assertThat(times.median()).isCloseTo(10, within());
    assertThat(times.low()).isCloseTo(10, within());
  }

  @Test
  void aWrongKernelHasNoTime() {
    KernelReport report = bench(FakeGpu.install(), FakeBench.gemm("ours", "0.25"));
    assertThat(report.verified()).isFalse();
    assertThat(report.timing()).isNull();
    assertThat(report.failure()).startsWith("the result is wrong: relative error");
  }
}
