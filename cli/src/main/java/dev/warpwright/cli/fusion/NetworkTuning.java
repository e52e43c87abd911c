package dev.warpwright.cli.fusion;

import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.ir.Kernel;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Features;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.WorkloadKey;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A search over the alternatives of a network. Each outcome is in the database before the next one
 * is looked at, so that a killed search has lost nothing and goes on where it was.
 */
final class NetworkTuning {
  private static final long PATIENCE_MILLIS = 200;

  private final NetworkTask task;
  private final NetworkCandidates candidates;
  private final Environment environment;
  private final TuningDatabase database;
  private final WorkloadKey key;
  private final Map<String, TuningRecord> known = new LinkedHashMap<>();
  private final List<Step> curve = new ArrayList<>();
  private final long start = System.nanoTime();

  /** When the first way was measured; 0 before that. */
  private long begun;

  private int resumed;

  /** An improvement: the number of the trial, from 1, and seconds after the beginning. */
  record Step(int trial, double seconds, double timeUs) {}

  NetworkTuning(
      NetworkTask task,
      NetworkCandidates candidates,
      Environment environment,
      TuningDatabase database) {
    this.task = task;
    this.candidates = candidates;
    this.environment = environment;
    this.database = database;
    this.key = task.key();
  }

  /**
   * Searches until a limit is reached or everything was tried. What is under way then is waited
   * for.
   *
   * @param trials at most, those of earlier runs included
   * @param listener is told a line after every outcome
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  void run(int trials, double seconds, Measurer measurer, Consumer<String> listener)
      throws InterruptedException {
    List<String> names = candidates.names();
    NetworkSearch search = new NetworkSearch(names);
    for (TuningRecord record : database.records(key, environment)) {
      String name = NetworkRecords.name(record.point());
      if (name != null && candidates.has(name)) {
        known.put(name, record);
      }
    }
    resumed = known.size();
    known.forEach((name, record) -> search.learn(name, micros(record)));
    measure(search::next, search::learn, new Limits(trials, seconds), measurer, listener);
  }

  /**
   * How many trials there may be, those of earlier runs included, and how many seconds, from the
   * first that is measured on: weights, and what results are compared with, take a large network as
   * long whatever the limit.
   */
  record Limits(int trials, double seconds) {}

  /**
   * Measures ways until a limit is reached or there is none left, several at a time; what is under
   * way then is waited for.
   *
   * @param next the name of the next one; null if there is none
   * @param learned is told the time of each, not a number where it has none
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  void measure(
      Supplier<@Nullable String> next,
      BiConsumer<String, Double> learned,
      Limits limits,
      Measurer measurer,
      Consumer<String> listener)
      throws InterruptedException {
    List<String> names = candidates.names();
    BlockingQueue<Measurer.Trial> finished = new LinkedBlockingQueue<>();
    int underWay = 0;
    boolean exhausted = false;
    while (true) {
      while (!exhausted
          && underWay < measurer.width()
          && known.size() + underWay < limits.trials()
          && searching() < limits.seconds()) {
        String name = next.get();
        if (name == null) {
          exhausted = true;
        } else {
          underWay++;
          measurer.measure(candidate(name, names)).thenAccept(finished::add);
        }
      }
      if (underWay == 0) {
        return;
      }
      Measurer.Trial trial = finished.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
      if (trial != null) {
        underWay--;
        // A way that is refused tells nothing of how long weights take.
        if (begun == 0 && trial.outcome() instanceof Outcome.Measured) {
          begun = System.nanoTime();
        }
        String name = NetworkRecords.name(trial.candidate().point());
        if (name != null) {
          double before = bestUs();
          store(name, trial.sourceHash(), trial.outcome());
          double now = known.containsKey(name) ? micros(known.get(name)) : Double.NaN;
          learned.accept(name, now);
          if (now < before) {
            curve.add(new Step(known.size(), seconds(), now));
          }
          listener.accept(
              known.size()
                  + (PerLayerWay.of(name).isPresent()
                      ? ": "
                      : " of " + Math.min(limits.trials(), names.size()) + ": ")
                  + name
                  + ": "
                  + told(trial.outcome()));
        }
      }
    }
  }

  private static String told(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Measured m -> String.format(java.util.Locale.ROOT, "%.2f us", m.timeUs());
      case Outcome.Failed f -> f.reason().text() + ": " + f.message();
    };
  }

  private Candidate candidate(String name, List<String> names) {
    return new Candidate(
        NetworkRecords.point(name),
        new Features(List.of(), new double[0], 1),
        () -> kernel(name),
        NetworkRunner.values(names, name));
  }

  private Kernel kernel(String name) {
    Made made =
        candidates
            .make(name)
            .orElseThrow(() -> new Rejected("target", "the target does not carry it"));
    return made.program().program().kernels().getFirst();
  }

  /** Writes down what came of an alternative; returns when it cannot be lost any more. */
  void store(String name, String sourceHash, Outcome outcome) {
    TuningRecord record =
        new TuningRecord(
            key, environment, NetworkRecords.point(name), sourceHash, outcome, Instant.now());
    database.add(record);
    known.put(name, record);
  }

  private static double micros(TuningRecord record) {
    return record.outcome() instanceof Outcome.Measured m ? m.timeUs() : Double.NaN;
  }

  private double bestUs() {
    return known.values().stream()
        .mapToDouble(NetworkTuning::micros)
        .filter(us -> !Double.isNaN(us))
        .min()
        .orElse(Double.POSITIVE_INFINITY);
  }

  /** Those with a time, fastest first. */
  List<String> ranked() {
    Map<String, Double> times = new HashMap<>();
    known.forEach((name, record) -> times.put(name, micros(record)));
    return known.keySet().stream()
        .filter(name -> !times.getOrDefault(name, Double.NaN).isNaN())
        .sorted(Comparator.comparingDouble(name -> times.getOrDefault(name, Double.NaN)))
        .toList();
  }

  /** The last time of a way in microseconds; infinite if it has none. */
  double micros(String name) {
    TuningRecord record = known.get(name);
    double us = record == null ? Double.NaN : micros(record);
    return Double.isNaN(us) ? Double.POSITIVE_INFINITY : us;
  }

  /** Whether a way was tried. */
  boolean isKnown(String name) {
    return known.containsKey(name);
  }

  /** The last outcome of an alternative that was tried. */
  TuningRecord record(String name) {
    TuningRecord record = known.get(name);
    if (record == null) {
      throw new IllegalArgumentException(name + " was not tried");
    }
    return record;
  }

  int trials() {
    return known.size();
  }

  int resumed() {
    return resumed;
  }

  private double searching() {
    return begun == 0 ? 0 : (System.nanoTime() - begun) * 1e-9;
  }

  double seconds() {
    return (System.nanoTime() - start) * 1e-9;
  }

  List<Step> curve() {
    return curve;
  }

  /** How many have no time, by reason. */
  Map<FailureReason, Integer> failures() {
    Map<FailureReason, Integer> failures = new EnumMap<>(FailureReason.class);
    for (TuningRecord record : known.values()) {
      if (record.outcome() instanceof Outcome.Failed failed) {
        failures.merge(failed.reason(), 1, Integer::sum);
      }
    }
    return failures;
  }

  NetworkTask task() {
    return task;
  }
}
