package dev.warpwright.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.offset;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.fake.FakeGpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Phases;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** What becomes of candidates: a time, or the reason why they have none. */
@Isolated("takes the driver's place in this process")
final class GpuCandidateRunnerTest {
  private final FakeGpu gpu = FakeGpu.install();
  private final GpuCandidateRunner runner = new GpuCandidateRunner(GpuTarget.SM_80, 9);

  @AfterEach
  void close() {
    gpu.close();
  }

  private Kernel candidate(String name, String error, double us) {
    Kernel kernel = FakeBench.gemm(name, error);
    FakeBench.teach(gpu, kernel, FakeBench.SHAPE).takes(name, us);
    return kernel;
  }

  private Outcome.Measured time(Kernel kernel) throws CandidateFailure {
    return runner.time(kernel, FakeBench.SHAPE);
  }

  private CandidateFailure failure(Kernel kernel) {
    return catchThrowableOfType(CandidateFailure.class, () -> time(kernel));
  }

  @Test
  void compilingTellsTheHashOfWhatWasPrinted() throws CandidateFailure {
    Kernel kernel = candidate("first", "0.0", 10);
    String source =
        CudaPrinter.print(BoundKernel.of(kernel, FakeBench.SHAPE).kernel(), GpuTarget.SM_80);
    assertThat(runner.compile(kernel, FakeBench.SHAPE))
        .isEqualTo(SourceHash.of(source))
        .hasSize(64);
  }

  @Test
  void theFirstIsTimedAloneAndTheNextInTurnWithIt() throws CandidateFailure {
    Outcome.Measured first = time(candidate("first", "0.0", 10));
    assertThat(first.timeUs()).isCloseTo(10, offset(1e-3));
    assertThat(first.relError()).isPositive().isLessThan(3e-6);
    int alone = gpu.replays().size();
    assertThat(gpu.replays()).containsOnly("first");

    Outcome.Measured second = time(candidate("second", "0.0", 8));
    assertThat(second.timeUs()).isCloseTo(8, offset(1e-3));
    assertThat(gpu.replays().subList(alone, alone + 5))
        .containsExactly("first", "second", "first", "second", "first");

    // The faster one is what the third is compared with; a hopeless one takes few rounds.
    int before = gpu.replays().size();
    Outcome.Measured third = time(candidate("third", "0.0", 40));
    assertThat(third.timeUs()).isCloseTo(40, offset(1e-2));
    assertThat(gpu.replays().subList(before, before + 2)).containsExactly("second", "third");
    assertThat(gpu.replays().subList(before, gpu.replays().size()))
        .doesNotContain("first")
        .hasSizeLessThan(8);
  }

  @Test
  void whatIsPreparedIsWhatTimingCompilesBesideTheKernel() throws CandidateFailure {
    Kernel kernel = candidate("ours", "0.0", 10);
    runner.prepare(kernel, FakeBench.SHAPE);
    List<String> prepared = gpu.compiler().compiled();
    assertThat(prepared).isNotEmpty().noneMatch(names -> names.contains("ours"));
    assertThat(gpu.liveBuffers()).as("no device is needed").isZero();
    time(kernel);
    List<String> timing = new ArrayList<>(gpu.compiler().compiled().subList(prepared.size(), 3));
    assertThat(timing.remove("ours")).isTrue();
    assertThat(prepared).containsAll(timing);
    assertThatThrownBy(() -> runner.prepare(kernel, Map.of("M", 5L)))
        .isInstanceOf(CandidateFailure.class);
  }

  @Test
  void whereTheTimeWentIsTold() throws CandidateFailure {
    assertThat(runner.phases()).isEqualTo(Phases.NONE);
    time(candidate("first", "0.0", 10));
    Phases first = runner.phases();
    assertThat(first.data()).isPositive();
    assertThat(first.verifying()).isPositive();
    assertThat(first.timing()).isPositive();
    time(candidate("second", "0.0", 10));
    assertThat(runner.phases().data()).as("the data are there").isLessThan(first.data());
  }

  @Test
  void loadingCompilesSomethingAndOpensNothing() {
    runner.load();
    assertThat(gpu.compiler().compiled()).containsExactly("error_sum");
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void aWrongResultHasNoTime() {
    CandidateFailure failure = failure(candidate("wrong", "0.25", 1));
    assertThat(failure.reason()).isEqualTo(FailureReason.WRONG);
    assertThat(failure).hasMessageContaining("the result is wrong: relative error");
    assertThat(failure.poisoned()).isFalse();
    assertThat(gpu.replays()).as("nothing was timed").isEmpty();
  }

  @Test
  void afterAWrongOneTheNextIsMeasured() throws CandidateFailure {
    assertThat(failure(candidate("wrong", "0.25", 1)).reason()).isEqualTo(FailureReason.WRONG);
    assertThat(time(candidate("right", "0.0", 12)).timeUs()).isCloseTo(12, offset(1e-3));
  }

  @Test
  void spillsAreRefusedBeforeAnythingRuns() {
    Kernel kernel = candidate("spilling", "0.0", 1);
    gpu.compiler().spill("spilling", 24);
    CandidateFailure failure =
        catchThrowableOfType(CandidateFailure.class, () -> runner.compile(kernel, FakeBench.SHAPE));
    assertThat(failure.reason()).isEqualTo(FailureReason.SPILL);
    assertThat(failure).hasMessage("48 bytes of registers are spilled");
    assertThat(failure(kernel).reason()).isEqualTo(FailureReason.SPILL);
    assertThat(gpu.liveBuffers()).isZero();
  }

  @Test
  void aFaultPoisonsTheProcess() {
    Kernel kernel = candidate("faulty", "0.0", 1);
    gpu.faults("faulty");
    CandidateFailure failure = failure(kernel);
    assertThat(failure.reason()).isEqualTo(FailureReason.FAULT);
    assertThat(failure.poisoned()).isTrue();
    assertThat(failure).hasMessageContaining("the kernel faulted");
  }

  @Test
  void whatDoesNotFitTheWorkloadIsRejected() {
    CandidateFailure failure =
        catchThrowableOfType(
            CandidateFailure.class,
            () -> runner.time(FakeBench.gemm("ours", "0.0"), Map.of("M", 5L)));
    assertThat(failure.reason()).isEqualTo(FailureReason.REJECTED);
  }

  @Test
  void withoutSuchADeviceThereIsAnErrorAndNoOutcome() {
    GpuCandidateRunner elsewhere = new GpuCandidateRunner(GpuTarget.SM_90A, 9);
    assertThatThrownBy(() -> elsewhere.time(candidate("ours", "0.0", 1), FakeBench.SHAPE))
        .isInstanceOf(DeviceError.class)
        .hasMessageContaining("no GPU here runs sm_90a");
  }
}
