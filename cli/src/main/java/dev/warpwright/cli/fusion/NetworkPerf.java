package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.networks.NetworkRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.cli.tuning.TuningStore;
import dev.warpwright.compiler.execute.ConstantStore;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.tuned.RecordCheck;
import dev.warpwright.measure.network.LibraryLayers;
import dev.warpwright.measure.network.NetworkBench;
import dev.warpwright.measure.network.NetworkProgram;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.measure.network.ProgramFacts;
import dev.warpwright.model.graph.Graph;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.runtime.cuda.DeviceSensors;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.DeviceCatalogue;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures whole networks: the way that {@code run} computes them beside shared chaining, or all
 * ways beside each other.
 */
public final class NetworkPerf implements Action<NetworkRequest> {
  private final Supplier<TuningDevice> device;
  private final Bench bench;

  /** What runs programs. */
  @FunctionalInterface
  interface Bench {
    /** Measures programs of a task beside each other; the sets that they went through. */
    NetworkBench.Result of(
        NetworkTask task,
        List<NetworkProgram> programs,
        @Nullable LibraryLayers library,
        int rounds,
        boolean sustained,
        Progress progress);
  }

  /** Measures on the GPU here. */
  public NetworkPerf() {
    this(TuningDevice::find, NetworkPerf::onGpu);
  }

  /** Measures elsewhere. */
  NetworkPerf(Supplier<TuningDevice> device, Bench bench) {
    this.device = device;
    this.bench = bench;
  }

  @Override
  public Report perform(NetworkRequest request, Progress progress) {
    TuningDevice here = device.get();
    List<Report> reports = new ArrayList<>();
    // Tasks that follow each other may be of one network.
    ConstantStore store = new ConstantStore();
    Graph network = null;
    try (DeviceQueue.Turn _ = here.turn("perf", progress)) {
      for (NetworkTask task : request.tasks()) {
        store = task.graph() == network ? store : new ConstantStore();
        network = task.graph();
        try {
          reports.add(measure(task, request, here, store, progress));
        } catch (UserError | DeviceError e) {
          if (request.tasks().size() == 1) {
            throw e;
          }
          reports.add(unmeasured(task, e, progress));
        }
      }
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  static Report unmeasured(NetworkTask task, RuntimeException e, Progress progress) {
    String line = task.text() + ": not measured: " + OneLine.of(String.valueOf(e.getMessage()));
    progress.say(line);
    return new Report(
        e instanceof UserError ? ExitCode.USAGE : ExitCode.DEVICE,
        line,
        Json.object()
            .with("workload", task.text())
            .with("verified", false)
            .with("failure", String.valueOf(e.getMessage())));
  }

  private Report measure(
      NetworkTask task,
      NetworkRequest request,
      TuningDevice here,
      ConstantStore store,
      Progress progress) {
    progress.say(task.text());
    NetworkCandidates candidates =
        new NetworkCandidates(
            task,
            here.target(),
            store,
            () ->
                request.untuned()
                    ? NetworkCandidates.untuned(here)
                    : NetworkCandidates.products(here, request.database()));
    @Nullable TuningRecord record =
        request.untuned()
            ? null
            : NetworkRecords.best(
                    request.database(), task.key(), here.target(), here.environment().device())
                .orElse(null);
    @Nullable String preferred = record == null ? null : NetworkRecords.name(record.point());
    Made chosen = candidates.chosen(preferred);
    List<Made> programs = new ArrayList<>(List.of(chosen));
    if (task.merging() != null) {
      DeviceCatalogue.largest(here.target())
          .map(model -> WideExplanation.alone(task, model))
          .orElse(List.of())
          .forEach(one -> progress.say("predicted: " + one.text(Double.NaN)));
      programs.add(candidates.unmerged(preferred));
    }
    (request.all() ? candidates.all() : candidates.make(NetworkCandidates.OLD).stream().toList())
        .stream().filter(made -> !made.name().equals(chosen.name())).forEach(programs::add);
    NetworkBench.Result result =
        bench.of(
            task,
            programs.stream().map(Made::program).toList(),
            library(task, chosen),
            request.rounds(),
            !request.bursts(),
            progress);
    result.results().forEach(each -> tell(each, progress));
    if (request.record()) {
      record(task, candidates.names(), result.results(), request.database(), here, progress);
    }
    List<NetworkResult> others =
        result.results().stream()
            .skip(1)
            .sorted(
                Comparator.comparingDouble(
                    r -> r.times() == null ? Double.POSITIVE_INFINITY : r.times().micros()))
            .toList();
    return NetworkReport.of(
            task,
            here,
            result.sets(),
            request.rounds(),
            result.results().getFirst(),
            others,
            why(chosen, record, here))
        .report();
  }

  /** Of many tasks the report comes at the end, and may not come at all. */
  private static void tell(NetworkResult result, Progress progress) {
    if (result.times() != null) {
      double sustained = result.times().sustained();
      progress.say(
          String.format(
                  Locale.ROOT, "  %s: %.2f us in bursts", result.name(), result.times().micros())
              + (Double.isNaN(sustained)
                  ? ""
                  : String.format(Locale.ROOT, ", %.2f without rest", sustained)));
    } else if (result.failure() != null) {
      progress.say("  " + result.name() + ": " + OneLine.of(result.failure().message()));
    }
  }

  private static String why(Made chosen, @Nullable TuningRecord record, TuningDevice here) {
    if (record == null || !chosen.name().equals(NetworkRecords.name(record.point()))) {
      return "untuned: " + chosen.compiled().kernels().getFirst().why();
    }
    String untested =
        RecordCheck.untested(
            record,
            SourceHash.of(CudaPrinter.print(chosen.program().program(), here.target())),
            here.environment());
    return untested.isEmpty() ? "tuned" : "recorded with " + untested;
  }

  /** Writes down what came of ways that a search might try. */
  private static void record(
      NetworkTask task,
      List<String> names,
      List<NetworkResult> results,
      Path file,
      TuningDevice here,
      Progress progress) {
    Optional<DeviceSensors> sensors = sensors(here);
    int clock = sensors.map(DeviceSensors::clockMhz).orElse(0);
    int temperature = sensors.map(DeviceSensors::temperature).orElse(0);
    try (TuningDatabase database = TuningStore.open(file, progress)) {
      for (NetworkResult result : results) {
        ProgramFacts facts = result.facts();
        Outcome outcome = result.outcome(clock, temperature);
        if (outcome != null && names.contains(result.name())) {
          database.add(
              new TuningRecord(
                  task.key(),
                  here.environment(),
                  NetworkRecords.point(result.name()),
                  facts == null ? "" : facts.sourceHash(),
                  outcome,
                  Instant.now()));
        }
      }
    }
  }

  private static Optional<DeviceSensors> sensors(TuningDevice here) {
    return CudaDriver.find().stream()
        .flatMap(driver -> driver.devices().stream())
        .filter(device -> device.name().equals(here.name()))
        .findFirst()
        .flatMap(DeviceSensors::open);
  }

  /**
   * What stands beside a network that takes several kernels: its GEMMs by a library. Null for
   * others, which no library computes at their speed.
   */
  static @Nullable LibraryLayers library(NetworkTask task, Made chosen) {
    return chosen.compiled().kernels().size() > 1 || task.merging() != null
        ? LibraryChain.of(task.graph(), task.precision()).orElse(null)
        : null;
  }

  static NetworkBench.Result onGpu(
      NetworkTask task,
      List<NetworkProgram> programs,
      @Nullable LibraryLayers library,
      int rounds,
      boolean sustained,
      Progress progress) {
    var data = NetworkReference.of(task);
    try (Gpu gpu = Gpu.find().orElseThrow(() -> new DeviceError("there is no GPU any more"));
        NetworkBench bench = new NetworkBench(gpu, data, rounds, sustained, progress::say)) {
      return bench.run(programs, library);
    }
  }
}
