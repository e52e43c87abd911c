package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.io.IOException;
import java.io.StringWriter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Records of another source, driver or compiler are told, measured again, and then hold. */
final class RefreshActionTest {
  private static final GpuTarget TARGET = GpuTarget.SM_80;
  private static final Environment HERE =
      new Environment("sm_80", "NVIDIA A100", "13.0", "nvrtc 13.0", "test");
  private static final Environment BEFORE =
      new Environment("sm_80", "NVIDIA A100", "12.8", "nvrtc 12.8", "test");
  private static final TuningDevice DEVICE = new TuningDevice("NVIDIA A100", 108, TARGET, HERE);

  /** Answers at once, as a worker would. */
  private static final class Worker implements Measurer {
    final List<Candidate> measured = new ArrayList<>();
    final Function<Candidate, Outcome> outcome;

    Worker(Function<Candidate, Outcome> outcome) {
      this.outcome = outcome;
    }

    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      measured.add(candidate);
      // The kernel crosses over as text, and the worker names what it prints.
      Kernel sent =
          new IrParser(Intrinsics::find)
              .kernel("request", IrPrinter.text(candidate.kernel().get()));
      String source = CudaPrinter.print(BoundKernel.of(sent, candidate.values()).kernel(), TARGET);
      return CompletableFuture.completedFuture(
          new Trial(candidate, SourceHash.of(source), outcome.apply(candidate)));
    }

    @Override
    public int width() {
      return 1;
    }

    @Override
    public void close() {}
  }

  private static GemmWorkload workload(int n) {
    return GemmWorkload.nt(256, 64L * n, 256, DType.BF16);
  }

  private static Candidate candidate(GemmWorkload workload) {
    SplittableRandom random = new SplittableRandom(11);
    while (true) {
      Point point = GemmSpace.of(workload, TARGET, 108).sample(random).point();
      Optional<Candidate> candidate = RecordCheck.candidate(workload, TARGET, 108, point);
      if (candidate.isPresent() && !RecordCheck.sourceHash(candidate.get(), TARGET).isEmpty()) {
        return candidate.get();
      }
    }
  }

  private static void add(TuningDatabase database, int n, Environment environment) {
    Candidate candidate = candidate(workload(n));
    database.add(
        new TuningRecord(
            workload(n).key(),
            environment,
            candidate.point(),
            RecordCheck.sourceHash(candidate, TARGET),
            new Outcome.Measured(20, 0.001, 1e-3, 1400, 40),
            Instant.parse("2026-11-22T10:00:00.5Z").plusSeconds(n)));
  }

  private static RefreshAction action(Worker worker) {
    return new RefreshAction(() -> Optional.of(DEVICE), target -> worker);
  }

  private static Outcome faster(Candidate candidate) {
    return new Outcome.Measured(18, 0.001, 1e-3, 1400, 40);
  }

  @Test
  void measuresWhatDoesNotHoldAndNothingElse() throws IOException {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      add(database, 1, BEFORE);
      add(database, 2, HERE);
      add(database, 3, BEFORE);
      Worker worker = new Worker(RefreshActionTest::faster);
      assertThat(action(worker).list(database, 10, line -> {}).text())
          .contains("driver 12.8, here 13.0, compiler nvrtc 12.8, here nvrtc 13.0")
          .contains("2 of 3 records are untested");
      assertThat(worker.measured).isEmpty();

      Report report = action(worker).refresh(database, 10, 60, line -> {});
      assertThat(report.ok()).isTrue();
      assertThat(report.text())
          .contains("2 of 2 records verified and timed again, 0 of them failed")
          .contains("median 0.900");
      assertThat(worker.measured)
          .extracting(Candidate::point)
          .containsExactlyInAnyOrder(
              candidate(workload(1)).point(), candidate(workload(3)).point());
      assertThat(database.records(workload(1).key(), HERE))
          .extracting(TuningRecord::outcome)
          .containsExactly(faster(worker.measured.getFirst()));
      assertThat(action(worker).list(database, 10, line -> {}).text())
          .contains("0 of 3 records are untested");

      // What ships next holds each of them once, as it is now.
      StringWriter lines = new StringWriter();
      assertThat(database.exportFastest(lines, 2)).isEqualTo(3);
      // Its seconds may be 12.8, too.
      assertThat(lines.toString())
          .doesNotContain("\"12.8\"", "nvrtc 12.8")
          .contains("\"time_us\":18.0");
    }
  }

  @Test
  void goesOnWhereItWasEnded() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      add(database, 1, BEFORE);
      add(database, 2, BEFORE);
      AtomicInteger asked = new AtomicInteger();
      Worker dies =
          new Worker(
              candidate -> {
                if (asked.incrementAndGet() > 1) {
                  throw new IllegalStateException("the machine is taken away");
                }
                return faster(candidate);
              });
      assertThatThrownBy(() -> action(dies).refresh(database, 10, 60, line -> {}))
          .hasMessageContaining("taken away");
      assertThat(action(dies).list(database, 10, line -> {}).text()).contains("1 of 2 records");
      Worker worker = new Worker(RefreshActionTest::faster);
      assertThat(action(worker).refresh(database, 10, 60, line -> {}).text())
          .contains("1 of 1 records verified");
      assertThat(worker.measured).hasSize(1);
      assertThat(action(worker).list(database, 10, line -> {}).text()).contains("0 of 2 records");
    }
  }

  @Test
  void aWrongResultIsToldAndFailsTheCommand() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      add(database, 1, BEFORE);
      Worker worker =
          new Worker(c -> new Outcome.Failed(FailureReason.WRONG, "relative error 1.00e+00"));
      Report report = action(worker).refresh(database, 10, 60, line -> {});
      assertThat(report.ok()).isFalse();
      assertThat(report.text())
          .contains("wrong: relative error 1.00e+00")
          .contains("1 of them failed");
      assertThat(database.best(workload(1).key(), "sm_80", "NVIDIA A100")).isEmpty();
    }
  }

  @Test
  void withoutTimeOrDeviceNothingIsMeasured() {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      add(database, 1, BEFORE);
      Worker worker = new Worker(RefreshActionTest::faster);
      assertThat(action(worker).refresh(database, 10, 1e-9, line -> {}).text())
          .contains("0 of 1 records")
          .contains("the same command goes on");
      assertThat(worker.measured).isEmpty();
      RefreshAction nowhere = new RefreshAction(Optional::empty, target -> worker);
      assertThatThrownBy(() -> nowhere.refresh(database, 10, 60, line -> {}))
          .isInstanceOf(DeviceError.class)
          .hasMessageContaining("no GPU here");
      assertThat(nowhere.list(database, 10, line -> {}).text()).contains("0 of 1 records");
    }
  }
}
