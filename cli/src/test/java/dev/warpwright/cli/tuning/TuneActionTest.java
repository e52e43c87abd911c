package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Report;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.families.tuned.RejectedKernels;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.MeasuringTimes;
import dev.warpwright.workload.GemmWorkload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TuneActionTest {
  static final Environment ENVIRONMENT = new Environment("sm_90a", "fake", "1.0", "none", "test");

  @TempDir private Path folder;

  /**
   * Measures at once; a {@code broken} one nothing, once the other has measured: until then it
   * would take all searches.
   */
  private record Fake(boolean broken, Set<String> threads, CountDownLatch measured)
      implements Measurer {
    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      threads.add(Thread.currentThread().getName());
      if (broken) {
        await(measured);
        throw new IllegalStateException("planted");
      }
      measured.countDown();
      return CompletableFuture.completedFuture(
          new Trial(
              candidate,
              "hash",
              new Outcome.Measured(candidate.features().predictedUs(), 0, 0, 0, 0)));
    }

    @Override
    public int width() {
      return 2;
    }

    @Override
    public void close() {}
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static TuneRequest.Search search(String shape) {
    return new TuneRequest.Search(
        Products.of("gemm", new KeyValues(List.of(shape))),
        new GemmTuning.Options(
            new Tuner.Limits(6, 60), GemmTuning.Search.RANDOM, false, false, false, 1));
  }

  @Test
  void aSearchThatFailsEndsNoOther() {
    Set<String> threads = ConcurrentHashMap.newKeySet();
    CountDownLatch measured = new CountDownLatch(1);
    Path file = folder.resolve("tuning.db");
    List<TuneRequest.Search> searches =
        List.of(search("MNK=256"), search("MNK=512"), search("MNK=1024"), search("MNK=2048"));
    TuneAction action =
        new TuneAction(
            () -> new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT),
            (target, most) -> {
              assertThat(most).isEqualTo(4);
              return List.of(new Fake(true, threads, measured), new Fake(false, threads, measured));
            });
    TuneRequest request = new TuneRequest(searches, file, folder, 9);
    assertThatThrownBy(() -> action.perform(request, line -> {})).hasMessageContaining("planted");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      long tuned =
          searches.stream()
              .map(search -> search.products().workloads().getFirst())
              .filter(w -> !database.records(w.key(), ENVIRONMENT).isEmpty())
              .count();
      assertThat(tuned).isPositive();
    }
    assertThat(threads).hasSize(2);
  }

  static KernelReport verified() {
    return new KernelReport(
        "gemm",
        "sm_90a",
        "fake",
        1,
        1e-3,
        1e-2,
        1e-3,
        null,
        new KernelReport.Compiled("0123456789abcdef", 32, 0, 0, 0, List.of()),
        new KernelReport.Timing(
            new KernelReport.Times(Quantiles.of(10), 12), 1, 1, Prediction.NONE, 1, 9),
        List.of(),
        List.of(),
        List.of(),
        List.of());
  }

  private TuneAction action(Measurer measurer, PerfAction.Bench bench) {
    return new TuneAction(
        () -> new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT),
        (target, most) -> List.of(measurer),
        (here, database) ->
            new GemmChooser(
                new GemmChooser.Where(here.target(), here.environment(), 132),
                database,
                Optional.empty(),
                new RejectedKernels(folder.resolve("rejected"))),
        bench);
  }

  @Test
  void aWinnerThatIsWrongInTheEndMakesRoomForTheNext() {
    List<Candidate> winners = new ArrayList<>();
    Path file = folder.resolve("tuning.db");
    TuneRequest.Search search = search("MNK=256");
    Report report =
        action(
                new Fake(false, ConcurrentHashMap.newKeySet(), new CountDownLatch(1)),
                (kernel, rounds, baselineKernels, here, progress) -> {
                  winners.add(kernel.candidate());
                  if (winners.size() == 1) {
                    throw new CandidateFailure(FailureReason.WRONG, "the result is wrong");
                  }
                  return verified();
                })
            .perform(new TuneRequest(List.of(search), file, folder, 9), line -> {});
    assertThat(report.ok()).isTrue();
    assertThat(winners).hasSize(2);
    assertThat(winners.get(1).features().predictedUs())
        .isGreaterThan(winners.get(0).features().predictedUs());
    try (TuningDatabase database = TuningDatabase.open(file)) {
      GemmWorkload workload = search.products().workloads().getFirst();
      assertThat(database.best(workload.key(), "sm_90a", "fake").orElseThrow().point())
          .as("no later command believes the wrong one's time")
          .isEqualTo(winners.get(1).point());
    }
  }

  @Test
  void aSearchThatHasMeasuredNothingGoesOn() {
    AtomicInteger count = new AtomicInteger();
    Measurer mostlySpilling =
        new Measurer() {
          @Override
          public CompletableFuture<Trial> measure(Candidate candidate) {
            Outcome outcome =
                count.incrementAndGet() <= 20
                    ? new Outcome.Failed(FailureReason.SPILL, "8 bytes")
                    : new Outcome.Measured(candidate.features().predictedUs(), 0, 0, 0, 0);
            return CompletableFuture.completedFuture(new Trial(candidate, "hash", outcome));
          }

          @Override
          public int width() {
            return 2;
          }

          @Override
          public void close() {}
        };
    Report report =
        action(mostlySpilling, (kernel, rounds, baselineKernels, here, progress) -> verified())
            .perform(
                new TuneRequest(List.of(search("MNK=256")), folder.resolve("tuning.db"), folder, 9),
                line -> {});
    assertThat(report.ok()).as("6 trials were asked for, and all of them spill").isTrue();
    assertThat(count.get()).isBetween(21, 40);
  }

  /** Tells of its life, and takes a while. */
  private static final class Slow implements Measurer {
    final List<String> notes = Collections.synchronizedList(new ArrayList<>());

    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      notes.add("measure");
      return CompletableFuture.supplyAsync(
          () ->
              new Trial(
                  candidate,
                  "hash",
                  new Outcome.Measured(candidate.features().predictedUs(), 0, 0, 0, 0)),
          CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
    }

    @Override
    public Ahead ahead(Candidate candidate) {
      notes.add("ahead");
      return () -> measure(candidate);
    }

    @Override
    public void open() {
      notes.add("open");
    }

    @Override
    public int width() {
      return 6;
    }

    @Override
    public Optional<MeasuringTimes> times() {
      return Optional.of(new MeasuringTimes(1, 2, 3, 4, 5, 6, 7, 8));
    }

    @Override
    public void close() {
      notes.add("close");
    }
  }

  @Test
  void theNextSearchIsCompiledWhileOneMeasuresAndTheReportTellsWhereTheTimeWent() {
    Slow slow = new Slow();
    List<String> said = Collections.synchronizedList(new ArrayList<>());
    Report report =
        action(
                slow,
                (kernel, rounds, baselineKernels, here, progress) -> {
                  assertThat(slow.notes).as("no worker has the memory").endsWith("close");
                  return verified();
                })
            .perform(
                new TuneRequest(
                    List.of(search("MNK=256"), search("MNK=512")),
                    folder.resolve("tuning.db"),
                    folder,
                    9),
                said::add);
    assertThat(report.ok()).isTrue();
    assertThat(slow.notes).startsWith("open", "ahead");
    assertThat(slow.notes.stream().filter("ahead"::equals)).hasSize(12);
    int firstMeasured = slow.notes.indexOf("measure");
    int lastBegun = slow.notes.lastIndexOf("ahead");
    assertThat(slow.notes.subList(lastBegun, slow.notes.size()))
        .as("what is measured after the second was compiled: its trials, and the best of both")
        .hasSizeGreaterThan(6 + 4);
    assertThat(firstMeasured).isBetween(7, lastBegun);
    assertThat(said)
        .last()
        .asString()
        .contains("fake: 21.0 s of searches (timing 1.0", "waiting for compilers 5.0")
        .contains("8 kernels compiled in 7 s of all compilers", "s of winners");
    assertThat(report.json().toString())
        .contains("devices", "waitingSeconds", "idleSeconds", "winnersSeconds");
  }

  @Test
  void aDatabaseThatIsNoneIsOneLineAndWorkersEnd() throws IOException {
    Path file = Files.writeString(folder.resolve("tuning.db"), "a letter, not a database\n");
    for (TuneRequest.Together together :
        List.of(TuneRequest.Together.NOT, new TuneRequest.Together(5, 0))) {
      Slow slow = new Slow();
      assertThatThrownBy(
              () ->
                  action(slow, (kernel, rounds, baselines, here, progress) -> verified())
                      .perform(
                          new TuneRequest(
                              List.of(search("MNK=256"), search("MNK=512")),
                              file,
                              folder,
                              9,
                              together),
                          line -> {}))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("tuning.db");
      assertThat(slow.notes).contains("open", "close").doesNotContain("measure");
      assertThat(file).hasContent("a letter, not a database");
    }
  }

  @Test
  void aProductWithoutAKernelCostsTheOthersNothing() {
    PerfAction.Bench bench =
        (kernel, rounds, baselineKernels, here, progress) -> {
          throw new DeviceError("out of memory");
        };
    List<String> calls = new ArrayList<>();
    Report report =
        action(
                new Fake(false, ConcurrentHashMap.newKeySet(), new CountDownLatch(1)),
                (kernel, rounds, baselineKernels, here, progress) -> {
                  calls.add(kernel.candidate().point().text());
                  return calls.size() == 1
                      ? bench.of(kernel, rounds, baselineKernels, here, progress)
                      : verified();
                })
            .perform(
                new TuneRequest(
                    List.of(search("MNK=256"), search("MNK=512")),
                    folder.resolve("tuning.db"),
                    folder,
                    9),
                line -> {});
    assertThat(report.code()).isEqualTo(ExitCode.DEVICE);
    assertThat(report.text()).contains("m=256 n=256: not measured: out of memory", "verified");
  }
}
