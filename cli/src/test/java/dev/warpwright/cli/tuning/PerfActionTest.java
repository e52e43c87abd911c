package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PerfActionTest {
  private static final String SHAPE = "MNK=64 dtype=f32";
  private static final GemmWorkload WORKLOAD = GemmWorkload.nt(64, 64, 64, DType.F32);

  @TempDir private Path folder;

  private final List<String> said = new ArrayList<>();

  private static Environment environment(String driver) {
    return new Environment("sm_80", "fake", driver, "none", "test");
  }

  private static KernelReport report(@Nullable String failure) {
    return new KernelReport(
        "gemm",
        "sm_80",
        "fake",
        1,
        failure == null ? 1e-3 : 1,
        1e-2,
        1e-3,
        failure,
        new KernelReport.Compiled("0123456789abcdef", 32, 0, 0, 0, List.of()),
        failure != null
            ? null
            : new KernelReport.Timing(
                new KernelReport.Times(Quantiles.of(10), 12), 1, 1, Prediction.NONE, 1, 9),
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }

  private Report perform(PerfAction.Bench bench, String... shapes) {
    return perform(bench, true, shapes);
  }

  private Report perform(PerfAction.Bench bench, boolean untuned, String... shapes) {
    TuneAction.Workers none =
        (target, most) -> {
          throw new AssertionError("no kernel is to be timed before");
        };
    return perform(bench, none, new Choice(untuned, false), shapes);
  }

  /** How kernels are chosen. */
  private record Choice(boolean untuned, boolean quick) {}

  private Report perform(
      PerfAction.Bench bench, TuneAction.Workers workers, Choice choice, String... shapes) {
    PerfAction action =
        new PerfAction(
            () -> new TuningDevice("fake", 108, GpuTarget.SM_80, environment("1.0")),
            (here, database) ->
                new GemmChooser(
                    new GemmChooser.Where(here.target(), here.environment(), 108),
                    database,
                    Optional.empty(),
                    new RejectedKernels(folder.resolve("rejected"))),
            workers,
            bench);
    List<Products> tasks =
        Stream.of(shapes)
            .map(shape -> Products.of("gemm", new KeyValues(List.of(shape.split(" ")))))
            .toList();
    return action.perform(
        new PerfRequest(
            tasks,
            folder.resolve("tuning.db"),
            9,
            choice.untuned(),
            choice.quick(),
            null,
            List.of()),
        said::add);
  }

  /** The later ones are faster; the first one is wrong, the others' sources are what they are. */
  private record Timed(List<Point> points) implements Measurer {
    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      points.add(candidate.point());
      return CompletableFuture.completedFuture(
          new Trial(
              candidate,
              RecordCheck.sourceHash(candidate, GpuTarget.SM_80),
              points.size() == 1
                  ? new Outcome.Failed(FailureReason.WRONG, "the result is wrong")
                  : new Outcome.Measured(100 - points.size(), 0, 0, 0, 0)));
    }

    @Override
    public int width() {
      return 2;
    }

    @Override
    public void close() {}
  }

  @Test
  void aFirstUseTimesAFewAndTheFastestIsUsedFromThenOn() {
    List<Point> timed = new ArrayList<>();
    PerfAction.Bench bench = (kernel, rounds, baselineKernels, here, progress) -> report(null);
    TuneAction.Workers workers = (target, most) -> List.of(new Timed(timed));
    Choice quick = new Choice(false, true);
    Report first = perform(bench, workers, quick, SHAPE, SHAPE);
    assertThat(first.code()).isEqualTo(ExitCode.OK);
    assertThat(timed.stream().map(PerfActionTest::tile))
        .as("five with other tiles, once")
        .hasSize(5)
        .doesNotHaveDuplicates();
    assertThat(said).filteredOn(line -> line.contains("first use on fake")).hasSize(1);
    assertThat(first.json().write()).contains("\"origin\": \"tuned\"").doesNotContain("untuned");
    assertThat(first.text()).contains(timed.get(4).text());
    // Nothing is timed any more, with the option and without.
    assertThat(perform(bench, workers, quick, SHAPE).text()).contains(timed.get(4).text());
    assertThat(perform(bench, false, SHAPE).text()).contains(timed.get(4).text());
    assertThat(timed).hasSize(5);
  }

  private static List<Point.Choice> tile(Point point) {
    Set<String> details = Set.of("stages", "order", "panel", "ahead", "minBlocks", "resident");
    return point.choices().stream().filter(choice -> !details.contains(choice.name())).toList();
  }

  @Test
  void aFirstUseWithoutATimeIsNone() {
    int[] started = {0};
    PerfAction.Bench bench = (kernel, rounds, baselineKernels, here, progress) -> report(null);
    TuneAction.Workers workers =
        (target, most) -> {
          started[0]++;
          return List.of(new Failing());
        };
    Report report = perform(bench, workers, new Choice(false, true), SHAPE);
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(report.json().write()).contains("\"origin\": \"untuned\"");
    assertThat(started[0]).isEqualTo(1);
  }

  /** Its device is gone: that says nothing of a kernel. */
  private record Failing() implements Measurer {
    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      return CompletableFuture.completedFuture(
          new Trial(
              candidate, "", new Outcome.Failed(FailureReason.UNMEASURED, "no worker is left")));
    }

    @Override
    public int width() {
      return 1;
    }

    @Override
    public void close() {}
  }

  @Test
  void oneThatCannotBeMeasuredDoesNotStopTheOthers() {
    int[] calls = {0};
    PerfAction.Bench bench =
        (kernel, rounds, baselineKernels, here, progress) -> {
          if (++calls[0] == 2) {
            throw new DeviceError("out of memory");
          }
          return report(null);
        };
    Report report = perform(bench, "MNK=64", "MNK=72", "MNK=80");
    assertThat(report.code()).isEqualTo(ExitCode.DEVICE);
    assertThat(report.text())
        .contains("m=72 n=72: not measured: out of memory")
        .endsWith("3 GEMMs: 2 verified, 0 WRONG, 1 not measured");
    assertThat(report.json().write()).contains("\"failure\": \"out of memory\"");
    assertThatThrownBy(
            () ->
                perform(
                    (kernel, rounds, baselineKernels, here, progress) -> {
                      throw new DeviceError("out of memory");
                    },
                    "MNK=64"))
        .as("alone it is an error as ever")
        .isInstanceOf(DeviceError.class);
  }

  @Test
  void wrongIsWorseThanNotMeasured() {
    int[] calls = {0};
    PerfAction.Bench bench =
        (kernel, rounds, baselineKernels, here, progress) -> {
          if (++calls[0] == 2) {
            throw new DeviceError("out of memory");
          }
          return report(calls[0] == 1 ? "more than the peak" : null);
        };
    Report report = perform(bench, "MNK=64", "MNK=72", "MNK=80");
    assertThat(report.code()).isEqualTo(ExitCode.WRONG);
    assertThat(report.text()).endsWith("3 GEMMs: 1 verified, 1 WRONG, 1 not measured");
  }

  @Test
  void aKernelThatIsWrongIsNotSeenByTheUser() {
    List<String> points = new ArrayList<>();
    PerfAction.Bench bench =
        (kernel, rounds, baselineKernels, here, progress) -> {
          points.add(kernel.candidate().point().text());
          if (points.size() == 1) {
            throw new CandidateFailure(FailureReason.WRONG, "the result is wrong");
          }
          return report(null);
        };
    Report report = perform(bench, "MNK=64");
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(points).hasSize(2).doesNotHaveDuplicates();
    assertThat(report.text()).contains(points.getLast()).doesNotContain("wrong");
    assertThat(report.json().write()).contains("\"reason\": \"wrong\"");
    // The next time it is not tried.
    perform(bench, "MNK=64");
    assertThat(points).hasSize(3);
    assertThat(points.getLast()).isEqualTo(points.get(1));
  }

  /** Two kernels of a product that were recorded with an older driver, the faster one first. */
  private List<Candidate> recordBefore() {
    List<Candidate> kernels = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(5);
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      while (kernels.size() < 2) {
        Point point = GemmSpace.of(WORKLOAD, GpuTarget.SM_80, 108).sample(random).point();
        Optional<Candidate> drawn =
            RecordCheck.candidate(WORKLOAD, GpuTarget.SM_80, 108, point)
                .filter(kernel -> !RecordCheck.sourceHash(kernel, GpuTarget.SM_80).isEmpty())
                .filter(kernel -> kernels.stream().noneMatch(k -> k.point().equals(point)));
        drawn.ifPresent(
            kernel -> {
              database.add(
                  new TuningRecord(
                      WORKLOAD.key(),
                      environment("0.9"),
                      kernel.point(),
                      RecordCheck.sourceHash(kernel, GpuTarget.SM_80),
                      new Outcome.Measured(5 + kernels.size(), 0, 0, 0, 0),
                      Instant.EPOCH));
              kernels.add(kernel);
            });
      }
    }
    return kernels;
  }

  private List<TuningRecord> recordedHere() {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      return database.records(WORKLOAD.key(), environment("1.0"));
    }
  }

  @Test
  void aRecordThatDoesNotHoldIsVerifiedTimedAndStored() {
    List<Candidate> before = recordBefore();
    Report report =
        perform((kernel, rounds, baselineKernels, here, progress) -> report(null), false, SHAPE);
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(report.text())
        .contains("recorded with driver 0.9, here 1.0, verified and timed again just now")
        .contains(before.getFirst().point().text());
    assertThat(report.json().write()).contains("\"origin\": \"untested\"");
    assertThat(said)
        .anyMatch(line -> line.contains("recorded with driver 0.9, here 1.0; it is verified"));
    assertThat(recordedHere())
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.point()).isEqualTo(before.getFirst().point());
              assertThat(record.sourceHash())
                  .isEqualTo(RecordCheck.sourceHash(before.getFirst(), GpuTarget.SM_80));
              assertThat(record.outcome())
                  .isInstanceOfSatisfying(
                      Outcome.Measured.class, now -> assertThat(now.timeUs()).isEqualTo(10));
            });
  }

  @Test
  void aRecordThatDoesNotHoldAndIsWrongIsStoredAsSuchAndTheNextOneTaken() {
    List<Candidate> before = recordBefore();
    PerfAction.Bench bench =
        (kernel, rounds, baselineKernels, here, progress) -> {
          if (kernel.candidate().point().equals(before.getFirst().point())) {
            throw new CandidateFailure(FailureReason.WRONG, "the result is wrong");
          }
          return report(null);
        };
    Report report = perform(bench, false, SHAPE);
    assertThat(report.code()).isEqualTo(ExitCode.OK);
    assertThat(report.text()).contains(before.getLast().point().text());
    assertThat(report.json().write()).contains("\"reason\": \"wrong\"");
    List<TuningRecord> here = recordedHere();
    assertThat(here).hasSize(2);
    assertThat(here.getFirst().point()).isEqualTo(before.getFirst().point());
    assertThat(here.getFirst().outcome())
        .isEqualTo(new Outcome.Failed(FailureReason.WRONG, "the result is wrong"));
    assertThat(here.getLast().outcome()).isInstanceOf(Outcome.Measured.class);
    // From now on the second one is tuned.
    assertThat(perform(bench, false, SHAPE).json().write()).contains("\"origin\": \"tuned\"");
    assertThat(recordedHere()).hasSize(2);
  }

  /** It is no fault of the kernel: it stays what it was. */
  @Test
  void aMeasurementThatCannotBeIsNotStored() {
    recordBefore();
    KernelReport impossible = report("more than the peak: the measurement is wrong");
    Report report =
        perform((kernel, rounds, baselineKernels, here, progress) -> impossible, false, SHAPE);
    assertThat(report.code()).isEqualTo(ExitCode.WRONG);
    assertThat(recordedHere()).isEmpty();
  }
}
