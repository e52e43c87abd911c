package dev.warpwright.cli.fusion;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.networks.NetworkTuneRequest;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.measure.network.NetworkBench;
import dev.warpwright.measure.network.NetworkError;
import dev.warpwright.measure.network.NetworkProgram;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.network.NetworkTimes;
import dev.warpwright.measure.timing.Quantiles;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kernels of a network's GEMMs are chosen by the time of the whole, on a device that is made up.
 */
final class KernelExchangeTest {
  private static final int KINDS = 3;
  private static final int WIDTH = 2;
  private static final Environment ENVIRONMENT =
      new Environment("sm_90a", "fake", "1.0", "none", "test");
  private static final TuningDevice DEVICE =
      new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT);

  @TempDir private Path folder;

  private final NetworkTask task =
      NetworkTask.of(
          "mlp", new KeyValues(List.of("widths=512,512,512", "rows=16", "dtype=f16")), null);
  private final List<String> measured = new ArrayList<>();
  private final List<List<String>> choices = new ArrayList<>();

  /** A way that an earlier search has found, which no exchange leads to. */
  private String known = "";

  /** How long a worker takes for its first program: that of weights, too. */
  private long firstMillis;

  /** Whether the second kernels of both GEMMs are fast beside each other, and slow otherwise. */
  private boolean together;

  /** Of each GEMM three kernels of different tiles were measured, each 5 % slower than the last. */
  private Path records() {
    Path file = folder.resolve("tuning.db");
    try (TuningDatabase database = TuningDatabase.open(file)) {
      for (GemmWorkload workload :
          NetworkCompiler.products(task.graph(), task.precision(), task.rows())) {
        List<String> digests = new ArrayList<>();
        for (Candidate candidate : kinds(workload)) {
          database.add(
              new TuningRecord(
                  workload.key(),
                  ENVIRONMENT,
                  candidate.point(),
                  RecordCheck.sourceHash(candidate, GpuTarget.SM_90A),
                  new Outcome.Measured(10 + 0.5 * digests.size(), 0.01, 1e-4, 1500, 40),
                  Instant.now()));
          digests.add(candidate.point().digest());
        }
        choices.add(digests);
      }
    }
    return file;
  }

  private static List<Candidate> kinds(GemmWorkload workload) {
    SplittableRandom random = new SplittableRandom(7);
    var space = GemmSpace.of(workload, GpuTarget.SM_90A, 132);
    Map<String, Candidate> kinds = new LinkedHashMap<>();
    while (kinds.size() < KINDS) {
      Candidate candidate = space.sample(random).candidate();
      if (candidate != null
          && "wgmma".equals(candidate.point().option("sketch"))
          && !RecordCheck.sourceHash(candidate, GpuTarget.SM_90A).isEmpty()) {
        Point point = candidate.point();
        kinds.putIfAbsent(point.option("tileM") + "x" + point.option("tileN"), candidate);
      }
    }
    return List.copyOf(kinds.values());
  }

  /**
   * In the program the second kernel of the first GEMM and the third of the other are fastest, the
   * latter only beside the former.
   */
  private Outcome outcome(String name) {
    PerLayerWay way = PerLayerWay.of(name).orElse(null);
    if (name.equals(known)) {
      return new Outcome.Measured(20, 0.01, 1e-4, 1500, 40);
    }
    if (way == null) {
      return new Outcome.Measured(50, 0.01, 1e-4, 1500, 40);
    }
    int first =
        choices.get(0).indexOf(way.kernels().getOrDefault("gemm0", choices.get(0).getFirst()));
    int second =
        choices.get(1).indexOf(way.kernels().getOrDefault("gemm1", choices.get(1).getFirst()));
    if (together) {
      double both = first == 1 && second == 1 ? 25 : 30 + first + second;
      return new Outcome.Measured(both + ((way.overlapping() ? 1 : 0)), 0.01, 1e-4, 1500, 40);
    }
    double us = 30 + ((way.overlapping() ? 1 : 0)) - (first == 1 ? 2 : 0);
    us += second == 2 ? first == 1 ? -1 : 1 : 0.1 * second;
    return new Outcome.Measured(us, 0.01, 1e-4, 1500, 40);
  }

  private Measurer measurer() {
    return new Measurer() {
      @Override
      public CompletableFuture<Trial> measure(Candidate candidate) {
        String name = Objects.requireNonNull(NetworkRecords.name(candidate.point()));
        measured.add(name);
        Trial trial = new Trial(candidate, "0123456789abcdef".repeat(4), outcome(name));
        return measured.size() > WIDTH || firstMillis == 0
            ? CompletableFuture.completedFuture(trial)
            : CompletableFuture.supplyAsync(
                () -> trial, CompletableFuture.delayedExecutor(firstMillis, TimeUnit.MILLISECONDS));
      }

      @Override
      public int width() {
        return WIDTH;
      }

      @Override
      public void close() {}
    };
  }

  private NetworkBench.Result bench(List<NetworkProgram> programs) {
    List<NetworkResult> results = new ArrayList<>();
    for (NetworkProgram program : programs) {
      double us = ((Outcome.Measured) outcome(program.name())).timeUs();
      results.add(
          new NetworkResult(
              program.name(),
              null,
              new NetworkError(1e-4, 1e-3, 0.1, "[0, 0]", 0),
              new NetworkTimes(Quantiles.of(us), us),
              null));
    }
    return new NetworkBench.Result(results, 3);
  }

  private Report search(Path file, double seconds) {
    return new NetworkTune(
            () -> DEVICE,
            (network, target, records) -> measurer(),
            (network, programs, library, rounds, sustained, progress) -> bench(programs))
        .perform(
            new NetworkTuneRequest(
                List.of(new NetworkTuneRequest.Search(task, 200, seconds)), file, 5),
            line -> {});
  }

  @Test
  void kernelsAreExchangedUntilNoneMakesTheWholeFaster() {
    Path file = records();
    Report report = search(file, 60);
    String best =
        "GEMM per layer gemm0=" + choices.get(0).get(1) + " gemm1=" + choices.get(1).get(2);
    assertThat(report.text()).contains(best + ": the fastest of");
    // Of three kernels for each of two GEMMs, all are near the best: in the end every pair was
    // tried.
    assertThat(measured).doesNotHaveDuplicates().hasSizeBetween(8, 21);
    // What computes the network next takes them, by the names of their tiles.
    NetworkCandidates candidates = NetworkCandidates.on(DEVICE, task, file);
    assertThat(candidates.chosen(best).compiled().kernels())
        .extracting(kernel -> kernel.why().contains("is tuned for this shape"))
        .containsOnly(true);
    assertThat(candidates.chosen(best).compiled().program().kernels())
        .isNotEqualTo(candidates.chosen("GEMM per layer").compiled().program().kernels());
    Report perf =
        new NetworkPerf(
                () -> DEVICE,
                (network, programs, library, rounds, sustained, progress) -> bench(programs))
            .perform(new NetworkRequest(List.of(task), file, 5, false, false), line -> {});
    assertThat(perf.text()).contains(best);
    // Of a search that goes on nothing is measured twice.
    int before = measured.size();
    search(file, 60);
    assertThat(measured).hasSize(before);
  }

  @Test
  void twoKernelsAreExchangedAtOnceWhereNoneHelpsAlone() {
    Path file = records();
    together = true;
    Report report = search(file, 60);
    assertThat(report.text()).contains(name(1, 1) + ": the fastest of");
    assertThat(measured).doesNotHaveDuplicates();
  }

  /** What a large network's weights take is no time of its search. */
  @Test
  void timeIsCountedFromTheFirstProgramOn() {
    Path file = records();
    firstMillis = 2500;
    search(file, 2);
    assertThat(measured).as("exchanges").hasSizeGreaterThan(5);
  }

  private String name(int first, int second) {
    return "GEMM per layer gemm0="
        + choices.get(0).get(first)
        + " gemm1="
        + choices.get(1).get(second);
  }

  @Test
  void aSearchGoesOnFromTheFastestThatIsKnown() {
    Path file = records();
    known = name(2, 1);
    try (TuningDatabase database = TuningDatabase.open(file)) {
      database.add(
          new TuningRecord(
              task.key(),
              ENVIRONMENT,
              NetworkRecords.point(known),
              "0123456789abcdef".repeat(4),
              outcome(known),
              Instant.now()));
    }
    search(file, 60);
    assertThat(measured)
        .as("one exchange at a time first, then two")
        .containsSubsequence(name(0, 1), name(2, 0), name(0, 0))
        .containsSubsequence(name(1, 1), name(2, 2), name(1, 2))
        .doesNotContain(known);
    // A way whose kernels nobody exchanged is not hopeless for being slower than that.
    assertThat(measured).contains(known.replace("per layer", "per layer overlap=1"));
  }

  @Test
  void aWayIsToldToAWorkerByNumbers() throws Exception {
    records();
    List<String> names = List.of("GEMM per layer overlap=1", "GEMM per layer");
    String name = "GEMM per layer gemm0=" + choices.get(0).get(1) + " gemm1=ffffffff";
    assertThat(NetworkRunner.name(names, NetworkRunner.values(names, name))).isEqualTo(name);
    assertThat(NetworkRunner.name(names, NetworkRunner.values(names, names.getFirst())))
        .isEqualTo(names.getFirst());
  }
}
