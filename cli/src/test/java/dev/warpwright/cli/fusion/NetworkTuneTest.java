package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.networks.NetworkTuneRequest;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.measure.network.NetworkBench;
import dev.warpwright.measure.network.NetworkError;
import dev.warpwright.measure.network.NetworkProgram;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.network.NetworkTimes;
import dev.warpwright.measure.network.ProgramFacts;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Measurer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A search over the ways to fuse a network, on a device that is made up. */
final class NetworkTuneTest {
  private static final Environment ENVIRONMENT =
      new Environment("sm_90a", "fake", "1.0", "none", "test");
  private static final TuningDevice DEVICE =
      new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT);

  /** The ways to compute this network: 12 by warpgroups, 4 by warps, and through shared memory. */
  private static final int WAYS = 17;

  private static final String HASH = "0123456789abcdef".repeat(4);

  @TempDir private Path folder;

  private final List<String> measured = new ArrayList<>();
  private final NetworkTask task = task();

  private static NetworkTask task() {
    return task("32,32,32");
  }

  private static NetworkTask task(String widths) {
    return NetworkTask.of(
        "mlp", new KeyValues(List.of("widths=" + widths, "rows=1048576", "dtype=f16")), null);
  }

  /** Outcomes by name, at once or after a while. */
  private static final class Fake implements Measurer {
    private final Function<String, Outcome> outcome;
    private final List<String> measured;
    private final int millis;

    Fake(Function<String, Outcome> outcome, List<String> measured, int millis) {
      this.outcome = outcome;
      this.measured = measured;
      this.millis = millis;
    }

    @Override
    public CompletableFuture<Trial> measure(Candidate candidate) {
      String name = Objects.requireNonNull(NetworkRecords.name(candidate.point()));
      measured.add(name);
      Trial trial = new Trial(candidate, HASH, outcome.apply(name));
      return millis == 0
          ? CompletableFuture.completedFuture(trial)
          : CompletableFuture.supplyAsync(
              () -> trial, CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS));
    }

    @Override
    public int width() {
      return 1;
    }

    @Override
    public void close() {}
  }

  /** Fewer warpgroups are faster, but one spills and two are wrong on closer inspection. */
  private static Outcome outcome(String name) {
    if (name.contains("consumers=1 ")) {
      return new Outcome.Failed(FailureReason.SPILL, "8 bytes of registers are spilled");
    }
    int consumers = name.contains("consumers=") ? name.charAt(name.indexOf('=') + 1) - '0' : 9;
    double us = 10 + consumers + (name.contains("prefetch=1") ? 0 : 0.5);
    return new Outcome.Measured(us, 0.01, 1e-4, 1500, 40);
  }

  private static String hash(NetworkProgram program) {
    return SourceHash.of(CudaPrinter.print(program.program(), GpuTarget.SM_90A));
  }

  /** The same again, when nothing else is on the device. */
  private static NetworkBench.Result bench(List<NetworkProgram> programs) {
    List<NetworkResult> results = new ArrayList<>();
    for (NetworkProgram program : programs) {
      if (outcome(program.name()) instanceof Outcome.Failed failed) {
        results.add(new NetworkResult(program.name(), null, null, null, failed));
        continue;
      }
      boolean wrong = program.name().contains("consumers=2 ");
      results.add(
          new NetworkResult(
              program.name(),
              new ProgramFacts(hash(program), 1, 132, 128, 80, 1000, 0, List.of()),
              new NetworkError(wrong ? 1 : 1e-4, 1e-3, 0.1, "[0, 0]", 0),
              wrong
                  ? null
                  : new NetworkTimes(
                      Quantiles.of(((Outcome.Measured) outcome(program.name())).timeUs()), 20),
              wrong ? new Outcome.Failed(FailureReason.WRONG, "the result is wrong") : null));
    }
    return new NetworkBench.Result(results, 3);
  }

  private Report tune(int trials) {
    return new NetworkTune(
            () -> DEVICE,
            (network, target, records) -> new Fake(NetworkTuneTest::outcome, measured, 0),
            (network, programs, library, rounds, sustained, progress) -> bench(programs))
        .perform(
            new NetworkTuneRequest(
                List.of(new NetworkTuneRequest.Search(task, trials, 60)),
                folder.resolve("tuning.db"),
                5),
            line -> {});
  }

  @Test
  void theFastestThatIsRightIsWrittenDownAndUsed() {
    Report report = tune(200);
    String best = "register chaining consumers=3 prefetch=1 stages=1";
    assertThat(report.text())
        .contains(best + ": the fastest of " + WAYS)
        .contains("best of " + WAYS + " trials (0 of earlier runs)")
        .contains("19.00 us without a search, by register chaining warps=16 rows=32")
        .contains("without a time: 2 spill, 2 wrong");
    assertThat(report.json().write())
        .contains("\"untuned\": \"register chaining", "\"untunedUs\": 1")
        .contains("\"trace\": \"strategy=register-chaining consumers=3 prefetch=1 stages=1\"")
        .contains("\"strategy\": \"" + best + "\"");
    assertThat(measured).hasSize(WAYS).doesNotHaveDuplicates();
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      TuningRecord record =
          NetworkRecords.best(database, task.key(), GpuTarget.SM_90A, "fake").orElseThrow();
      assertThat(NetworkRecords.name(record.point())).isEqualTo(best);
      assertThat(record.sourceHash()).as("of what was confirmed").isNotEqualTo(HASH);
    }
    // What measures next takes it.
    Report perf =
        new NetworkPerf(
                () -> DEVICE,
                (network, programs, library, rounds, sustained, progress) -> bench(programs))
            .perform(
                new NetworkRequest(List.of(task), folder.resolve("tuning.db"), 5, false, false),
                line -> {});
    assertThat(perf.text()).contains(best + ": tuned");
    Report untuned =
        new NetworkPerf(
                () -> DEVICE,
                (network, programs, library, rounds, sustained, progress) -> bench(programs))
            .perform(
                new NetworkRequest(
                    List.of(task("64,64,64,64,64")), folder.resolve("tuning.db"), 5, false, true),
                line -> {});
    // It takes 68.3 us by four warpgroups and 73.0 by three or five.
    assertThat(untuned.text())
        .contains("register chaining consumers=4 prefetch=1 stages=1: untuned");
  }

  /** All ways beside each other are as good as a search, where there are few. */
  @Test
  void whatPerfMeasuresIsWrittenDownWhereAskedFor() {
    NetworkPerf perf =
        new NetworkPerf(
            () -> DEVICE,
            (network, programs, library, rounds, sustained, progress) -> bench(programs));
    Path file = folder.resolve("tuning.db");
    perf.perform(
        new NetworkRequest(List.of(task), file, 5, true, true, true, true, null), line -> {});
    try (TuningDatabase database = TuningDatabase.open(file)) {
      assertThat(database.records(task.key(), ENVIRONMENT)).hasSize(WAYS);
    }
    Report tuned =
        perf.perform(new NetworkRequest(List.of(task), file, 5, false, false), line -> {});
    assertThat(tuned.text()).contains("consumers=3 prefetch=1 stages=1: tuned");
  }

  @Test
  void aRecordOfAnotherSourceIsNoTuning() {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      database.add(
          new TuningRecord(
              task.key(),
              ENVIRONMENT,
              NetworkRecords.point("register chaining consumers=3 prefetch=1 stages=1"),
              HASH,
              new Outcome.Measured(5, 0.01, 1e-4, 1500, 40),
              Instant.now()));
    }
    Report perf =
        new NetworkPerf(
                () -> DEVICE,
                (network, programs, library, rounds, sustained, progress) -> bench(programs))
            .perform(
                new NetworkRequest(List.of(task), folder.resolve("tuning.db"), 5, false, false),
                line -> {});
    assertThat(perf.text())
        .contains("consumers=3 prefetch=1 stages=1: recorded with another source");
  }

  /** One that is not among the ways of this network does not win by what is written of it. */
  @Test
  void aRecordOfAWayThatThereIsNotIsLeftOut() {
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("tuning.db"))) {
      database.add(
          new TuningRecord(
              task.key(),
              ENVIRONMENT,
              NetworkRecords.point("GEMM per layer overlap=1 gemm0=1f2e3d4c"),
              HASH,
              new Outcome.Measured(1, 0.01, 1e-4, 1500, 40),
              Instant.now()));
    }
    assertThat(tune(200).text())
        .contains("consumers=3 prefetch=1 stages=1: the fastest of " + WAYS);
  }

  @Test
  void aSearchGoesOnWhereItWas() {
    tune(5);
    assertThat(measured).hasSize(5);
    Report report = tune(200);
    assertThat(measured).hasSize(WAYS).doesNotHaveDuplicates();
    assertThat(report.text()).contains("best of " + WAYS + " trials (5 of earlier runs)");
  }

  @Test
  void ifNothingHasATimeThatIsSaid() {
    NetworkTune tune =
        new NetworkTune(
            () -> DEVICE,
            (network, target, records) ->
                new Fake(name -> new Outcome.Failed(FailureReason.COMPILE, "no"), measured, 0),
            (network, programs, library, rounds, sustained, progress) -> bench(programs));
    assertThatThrownBy(
            () ->
                tune.perform(
                    new NetworkTuneRequest(
                        List.of(new NetworkTuneRequest.Search(task, 3, 60)),
                        folder.resolve("tuning.db"),
                        5),
                    line -> {}))
        .isInstanceOf(DeviceError.class)
        .hasMessageContaining("no way of 3 could be measured: 3 compile");
  }

  /** A search that takes a while for each alternative. */
  static final class Slow {
    private Slow() {}

    public static void main(String[] args) {
      Report report =
          new NetworkTune(
                  () -> DEVICE,
                  (network, target, records) ->
                      new Fake(NetworkTuneTest::outcome, new ArrayList<>(), 100),
                  (network, programs, library, rounds, sustained, progress) -> bench(programs))
              .perform(
                  new NetworkTuneRequest(
                      List.of(new NetworkTuneRequest.Search(task(), 200, 60)), Path.of(args[0]), 5),
                  line -> {
                    System.out.println(line);
                    System.out.flush();
                  });
      System.out.println(report.json().write());
    }
  }

  @Test
  void killedItHasLostNothing() throws IOException, InterruptedException {
    Path file = folder.resolve("tuning.db");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Slow.class.getName(),
            file.toString());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    int said = 0;
    try (var lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.contains(" of " + WAYS + ": ") && ++said == 3) {
          process.destroyForcibly();
          break;
        }
      }
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as("killed").isEqualTo(137);
    List<TuningRecord> records;
    try (TuningDatabase database = TuningDatabase.open(file)) {
      records = database.records(task.key(), ENVIRONMENT);
    }
    assertThat(records).as("what was told is kept").hasSizeBetween(3, WAYS - 1);
    assertThat(new HashSet<>(records.stream().map(TuningRecord::point).toList()))
        .hasSameSizeAs(records);
    Report report = tune(200);
    assertThat(report.text())
        .contains("best of " + WAYS + " trials (" + records.size() + " of earlier runs)");
    assertThat(measured).hasSize(WAYS - records.size());
    assertThat(Files.exists(file)).isTrue();
    assertThat(((Json.Members) report.json()).members()).containsKey("curve");
  }
}
