package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.networks.NetworkTuneRequest;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.cli.tuning.TuningStore;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.measure.network.NetworkBench;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.Measurer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Searches for the fastest way to compute a whole network, confirms it beside the next fastest, and
 * writes it down: from then on {@code run} uses it.
 */
public final class NetworkTune implements Action<NetworkTuneRequest> {
  /** So many of the fastest are measured beside each other, so often at most. */
  private static final int CONFIRMED = 4;

  private static final int MOST_CONFIRMATIONS = 3;

  private final Supplier<TuningDevice> device;
  private final Workers workers;
  private final NetworkPerf.Bench bench;

  /** What measures. */
  @FunctionalInterface
  interface Workers {
    Measurer start(NetworkTask task, GpuTarget target, Path records);
  }

  /** Tunes on the GPU here. */
  public NetworkTune() {
    this(TuningDevice::find, NetworkWorker::measurer, NetworkPerf::onGpu);
  }

  /** Tunes elsewhere. */
  NetworkTune(Supplier<TuningDevice> device, Workers workers, NetworkPerf.Bench bench) {
    this.device = device;
    this.workers = workers;
    this.bench = bench;
  }

  @Override
  public Report perform(NetworkTuneRequest request, Progress progress) {
    TuningDevice here = device.get();
    List<Report> reports = new ArrayList<>();
    try (DeviceQueue.Turn _ = here.turn("tune", progress);
        TuningDatabase database = TuningStore.open(request.database(), progress)) {
      for (NetworkTuneRequest.Search search : request.searches()) {
        try {
          reports.add(tune(search, request, here, database, progress));
        } catch (UserError | DeviceError e) {
          if (request.searches().size() == 1) {
            throw e;
          }
          reports.add(NetworkPerf.unmeasured(search.task(), e, progress));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  private Report tune(
      NetworkTuneRequest.Search search,
      NetworkTuneRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    NetworkTask task = search.task();
    progress.say(
        "tuning " + task.text() + " on " + here.name() + ", records in " + database.file());
    NetworkCandidates candidates = NetworkCandidates.on(here, task, request.database());
    NetworkTuning tuning = new NetworkTuning(task, candidates, here.environment(), database);
    try (Measurer measurer = workers.start(task, here.target(), request.database())) {
      tuning.run(search.trials(), search.seconds(), measurer, progress::say);
      NetworkTuning.Limits limits = new NetworkTuning.Limits(search.trials(), search.seconds());
      KernelExchange.run(tuning, candidates, limits, measurer, progress::say);
    }
    if (tuning.ranked().isEmpty()) {
      throw new DeviceError(
          String.format(
              Locale.ROOT,
              "%s: no way of %d could be measured: %s",
              task.key(),
              tuning.trials(),
              reasons(tuning)));
    }
    String untuned = candidates.chosen(null).name();
    // Measured beside each other when no worker holds the device's memory.
    NetworkBench.Result last = confirm(tuning, candidates, untuned, request.rounds(), progress);
    if (tuning.ranked().isEmpty()) {
      throw new DeviceError(
          task.key()
              + ": what was measured in workers could not be measured again: "
              + reasons(tuning));
    }
    String best = tuning.ranked().getFirst();
    Map<String, NetworkResult> byName = new LinkedHashMap<>();
    last.results().forEach(result -> byName.put(result.name(), result));
    NetworkResult first = byName.remove(best);
    if (first == null) {
      throw new IllegalStateException(best + " was not confirmed");
    }
    Report report =
        NetworkReport.of(
                task,
                here,
                last.sets(),
                request.rounds(),
                first,
                List.copyOf(byName.values()),
                "the fastest of " + tuning.trials())
            .report();
    return with(report, tuning, best, untuned);
  }

  /**
   * Measures the fastest beside each other, until the fastest of all is one of those that were:
   * what is measured last is what counts.
   */
  private NetworkBench.Result confirm(
      NetworkTuning tuning,
      NetworkCandidates candidates,
      String untuned,
      int rounds,
      Progress progress) {
    Set<String> confirmed = new HashSet<>();
    Map<String, NetworkResult> results = new LinkedHashMap<>();
    int sets = 0;
    for (int turn = 0; turn < MOST_CONFIRMATIONS; turn++) {
      List<String> ranked = tuning.ranked();
      if (ranked.isEmpty() || confirmed.contains(ranked.getFirst())) {
        break;
      }
      Set<String> again = new java.util.LinkedHashSet<>();
      ranked.stream()
          .filter(name -> !confirmed.contains(name))
          .limit(CONFIRMED)
          .forEach(again::add);
      // The old way and the one that would be taken without a search are what users compare with.
      if (turn == 0) {
        ranked.stream()
            .filter(name -> name.equals(NetworkCandidates.OLD) || name.equals(untuned))
            .forEach(again::add);
      }
      ranked.stream().filter(confirmed::contains).limit(1).forEach(again::add);
      List<Made> made = new ArrayList<>();
      again.forEach(name -> candidates.make(name).ifPresent(made::add));
      NetworkBench.Result result =
          bench.of(
              tuning.task(),
              made.stream().map(Made::program).toList(),
              null,
              rounds,
              true,
              progress);
      sets = result.sets();
      for (NetworkResult each : result.results()) {
        confirmed.add(each.name());
        results.put(each.name(), each);
        tuning.store(each.name(), hash(tuning, each), outcome(tuning, each));
      }
    }
    return new NetworkBench.Result(List.copyOf(results.values()), sets);
  }

  private static String hash(NetworkTuning tuning, NetworkResult result) {
    return result.facts() == null
        ? tuning.record(result.name()).sourceHash()
        : result.facts().sourceHash();
  }

  /** With the clock and the temperature of the trial, which are not read again. */
  private static Outcome outcome(NetworkTuning tuning, NetworkResult result) {
    Outcome before = tuning.record(result.name()).outcome();
    int clock = before instanceof Outcome.Measured m ? m.clockMhz() : 0;
    int temperature = before instanceof Outcome.Measured m ? m.temperature() : 0;
    return Objects.requireNonNullElse(result.outcome(clock, temperature), before);
  }

  private static String reasons(NetworkTuning tuning) {
    return tuning.failures().entrySet().stream()
        .map(failure -> failure.getValue() + " " + failure.getKey().text())
        .collect(Collectors.joining(", "));
  }

  private static Report with(Report report, NetworkTuning tuning, String best, String untuned) {
    List<String> lines = new ArrayList<>();
    lines.add(report.text());
    double untunedUs = tuning.micros(untuned);
    boolean compared = Double.isFinite(untunedUs);
    if (compared) {
      lines.add(String.format(Locale.ROOT, "%.2f us without a search, by %s", untunedUs, untuned));
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "best of %d trials (%d of earlier runs) in %.0f s; 'run' uses it from now on",
            tuning.trials(),
            tuning.resumed(),
            tuning.seconds()));
    String failed = reasons(tuning);
    if (!failed.isEmpty()) {
      lines.add("without a time: " + failed);
    }
    Json.Members failures = Json.object();
    for (var failure : tuning.failures().entrySet()) {
      failures = failures.with(failure.getKey().text(), failure.getValue());
    }
    Json.Members json =
        ((Json.Members) report.json())
            .with("trials", tuning.trials())
            .with("resumed", tuning.resumed())
            .with("seconds", tuning.seconds())
            .with("failures", failures)
            .with("trace", NetworkRecords.point(best).text())
            .with(
                "curve",
                Json.array(
                    tuning.curve(),
                    step ->
                        Json.object()
                            .with("trial", step.trial())
                            .with("seconds", step.seconds())
                            .with("timeUs", step.timeUs())));
    if (compared) {
      json = json.with("untuned", untuned).with("untunedUs", untunedUs);
    }
    return new Report(report.code(), String.join(System.lineSeparator(), lines), json);
  }
}
