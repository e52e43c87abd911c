package dev.warpwright.tune.measure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Stmt;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Features;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Candidates that do the worst they can, each in a child process of its measurer. */
@Timeout(120)
final class ProcessMeasurerTest {
  private static final Features FEATURES = new Features(List.of("f"), new double[] {1}, 1);

  /** Patient: on a busy machine an innocent candidate must not be taken for a hanging one. */
  private static ProcessMeasurer measurer;

  private static ProcessMeasurer hasty;

  @TempDir private Path folder;

  static List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        MutantRunner.class.getName());
  }

  @BeforeAll
  static void start() {
    measurer = measurer(Duration.ofMinutes(1));
    hasty = measurer(Duration.ofSeconds(2));
  }

  private static ProcessMeasurer measurer(Duration limit) {
    return new ProcessMeasurer(
        new ProcessMeasurer.Setup(command(), 2, List.of(Map.of()), limit, limit));
  }

  @AfterAll
  static void stop() {
    measurer.close();
    hasty.close();
  }

  private static Candidate planted(String what) {
    return candidate(
        () ->
            new Kernel(
                "planted",
                Kernel.Kind.GRID,
                List.of(),
                List.of(),
                new Stmt.Comment("it is all in the attribute"),
                Attrs.NONE.with("plant", what)),
        7);
  }

  private static Candidate candidate(Supplier<Kernel> kernel, long time) {
    return new Candidate(Point.EMPTY, FEATURES, kernel, Map.of("time", time));
  }

  private static void assertFails(String plant, FailureReason reason, String... parts) {
    assertFails(measurer, plant, reason, parts);
    assertGoodOneIsMeasured();
  }

  private static void assertFails(
      Measurer measurer, String plant, FailureReason reason, String... parts) {
    Measurer.Trial trial = measurer.measure(planted(plant)).join();
    assertThat(trial.outcome()).as(plant).isInstanceOf(Outcome.Failed.class);
    Outcome.Failed failed = (Outcome.Failed) trial.outcome();
    assertThat(failed.reason()).as(failed.message()).isEqualTo(reason);
    assertThat(failed.message()).contains(parts).doesNotContain("\n");
  }

  private static void assertGoodOneIsMeasured() {
    Measurer.Trial trial = measurer.measure(planted("nothing")).join();
    assertThat(trial.outcome()).isEqualTo(new Outcome.Measured(7, 0.01, 1e-7, 1980, 50));
    assertThat(trial.sourceHash()).isEqualTo("hash of planted");
  }

  @Test
  void aHangCostsOneCandidate() {
    assertFails(hasty, "hang", FailureReason.HANG, "no end within 2.0 s");
    // The next one gets a process of its own.
    assertFails(hasty, "wrong", FailureReason.WRONG, "0.3");
  }

  @Test
  void anotherThreadOfTheWorkerMakesReadyWhatWillBeTimed() {
    // The worker runs.
    assertGoodOneIsMeasured();
    List<CompletableFuture<Measurer.Trial>> all = new ArrayList<>();
    // No two are equal, as in a search: they would share what was made ready.
    for (String plant : List.of("nothing", "ahead", "not ahead", "ahead too")) {
      all.add(measurer.measure(planted(plant)));
    }
    assertThat(all)
        .extracting(trial -> ((Outcome.Measured) trial.join().outcome()).timeUs())
        .containsExactly(7.0, 100.0, 7.0, 100.0);
  }

  @Test
  void aFaultCostsOneCandidate() {
    assertFails("fault", FailureReason.FAULT, "illegal address");
  }

  @Test
  void aWrongResultCostsOneCandidate() {
    assertFails("wrong", FailureReason.WRONG, "relative error 0.3");
  }

  @Test
  void theDeathOfTheProcessCostsOneCandidate() {
    assertFails("die", FailureReason.CRASH, "134", "about to die");
  }

  @Test
  void aBugCostsOneCandidate() {
    assertFails("bug", FailureReason.CRASH, "a bug");
  }

  @Test
  void whatDoesNotCompileCostsOneCandidate() {
    assertFails("no compile", FailureReason.COMPILE, "line 3: what?");
    assertFails(hasty, "slow compile", FailureReason.COMPILE, "no end within 2.0 s");
  }

  @Test
  void whatCannotBeBuiltIsAnOutcome() {
    Candidate rejected =
        candidate(
            () -> {
              throw new Rejected("shared memory", "300 KiB of 227");
            },
            1);
    assertThat(measurer.measure(rejected).join().outcome())
        .isEqualTo(new Outcome.Failed(FailureReason.REJECTED, "300 KiB of 227"));
    Candidate bug =
        candidate(
            () -> {
              throw new IllegalStateException("no such layout\nat all");
            },
            1);
    assertThat(measurer.measure(bug).join().outcome())
        .isEqualTo(new Outcome.Failed(FailureReason.CRASH, "no such layout"));
  }

  @Test
  void manyAtOnceEachGetTheirOwnOutcome() {
    List<CompletableFuture<Measurer.Trial>> promises = new ArrayList<>();
    for (int i = 1; i <= 40; i++) {
      Candidate good = planted("nothing");
      promises.add(measurer.measure(i % 10 == 0 ? planted("die") : candidate(good.kernel(), i)));
    }
    for (int i = 1; i <= 40; i++) {
      Outcome outcome = promises.get(i - 1).join().outcome();
      if (i % 10 == 0) {
        assertThat(((Outcome.Failed) outcome).reason()).isEqualTo(FailureReason.CRASH);
      } else {
        assertThat(((Outcome.Measured) outcome).timeUs()).isEqualTo(i);
      }
    }
  }

  @Test
  void aheadOfItsTurnACandidateIsCompiledAndNotRun() throws InterruptedException {
    try (ProcessMeasurer own = measurer(Duration.ofMinutes(1))) {
      Measurer.Ahead hanging = own.ahead(planted("hang"));
      Measurer.Ahead broken = own.ahead(planted("no compile"));
      List<Measurer.Ahead> good = new ArrayList<>();
      for (int i = 1; i <= 6; i++) {
        good.add(own.ahead(candidate(planted("nothing").kernel(), i)));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (times(own).compiled() < 8) {
        assertThat(System.nanoTime()).as("all are compiled").isLessThan(end);
        TimeUnit.MILLISECONDS.sleep(20);
      }
      assertThat(times(own).loading() + times(own).timing()).as("nothing has run").isZero();
      assertThat(times(own).waiting()).as("nothing was wanted").isZero();
      List<Integer> order = Collections.synchronizedList(new ArrayList<>());
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (int i = 0; i < good.size(); i++) {
        int place = i;
        done.add(good.get(i).measure().thenAccept(trial -> order.add(place)));
      }
      done.forEach(CompletableFuture::join);
      assertThat(order).as("measured as they were asked for").containsExactly(0, 1, 2, 3, 4, 5);
      assertThat(((Outcome.Failed) broken.measure().join().outcome()).reason())
          .isEqualTo(FailureReason.COMPILE);
      assertThat(hanging).as("has harmed nobody").isNotNull();
    }
  }

  @Test
  void aCandidateIsCompiledOnce() {
    try (ProcessMeasurer own = measurer(Duration.ofMinutes(1))) {
      Candidate good = planted("nothing");
      Measurer.Trial first = own.measure(good).join();
      assertThat(own.measure(good).join()).isEqualTo(first);
      assertThat(times(own).compiled()).isEqualTo(1);
      MeasuringTimes times = times(own);
      assertThat(times.data()).isEqualTo(2);
      assertThat(times.verifying()).isEqualTo(4);
      assertThat(times.timing()).isEqualTo(8);
      assertThat(times.waiting()).as("for the compiler's process to start").isPositive();
      assertThat(times.compiling()).isPositive();
      assertThat(times.all()).isGreaterThanOrEqualTo(14 + times.waiting());
    }
  }

  @Test
  void whatCannotBePreparedIsMeasuredAllTheSame() {
    try (ProcessMeasurer own = measurer(Duration.ofMinutes(1))) {
      own.open();
      for (String plant : List.of("unprepared", "dies prepared")) {
        Candidate candidate = planted(plant);
        own.prepare(candidate);
        assertThat(own.measure(candidate).join().outcome())
            .as(plant)
            .isInstanceOf(Outcome.Measured.class);
      }
      Candidate unbuildable =
          candidate(
              () -> {
                throw new Rejected("shared memory", "300 KiB of 227");
              },
              1);
      own.prepare(unbuildable);
      assertThat(own.measure(planted("nothing")).join().outcome())
          .isInstanceOf(Outcome.Measured.class);
    }
  }

  private static MeasuringTimes times(Measurer measurer) {
    return measurer.times().orElseThrow();
  }

  @Test
  void aWorkerEndsWithItsTuner() throws IOException, InterruptedException {
    Process worker =
        new ProcessBuilder(command())
            .redirectError(folder.resolve("err").toFile())
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    assertThat(worker.waitFor(700, TimeUnit.MILLISECONDS)).isFalse();
    worker.getOutputStream().close();
    assertThat(worker.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(Files.size(folder.resolve("out"))).isEqualTo(1);
  }
}
