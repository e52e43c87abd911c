package dev.warpwright.tune;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.search.Proposals;
import dev.warpwright.tune.search.Strategy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One search: goes on from what the database knows of the same workload in the same environment,
 * keeps the measurer busy, and writes every outcome down before it counts.
 */
public final class Tuner {
  private static final long PATIENCE_MILLIS = 200;
  private static final int MOST_CONFIRMATIONS = 4;

  /**
   * When to stop.
   *
   * @param trials outcomes in all, those of earlier runs included
   * @param seconds of one call of {@link #run}
   */
  public record Limits(int trials, double seconds) {
    /** Checks that both are positive. */
    public Limits {
      if (trials < 1 || !(seconds > 0)) {
        throw new IllegalArgumentException(trials + " trials in " + seconds + " s");
      }
    }
  }

  private final TuningTask task;
  private final Strategy strategy;
  private final Proposals proposals;
  private final Measurer measurer;
  private final TuningDatabase database;
  private final Consumer<TuningProgress> listener;
  private final BlockingQueue<Measurer.Trial> finished = new LinkedBlockingQueue<>();
  private final Map<FailureReason, Integer> failures = new EnumMap<>(FailureReason.class);
  private final Map<Point, Measurer.Trial> latest = new HashMap<>();

  /** Points under which a candidate was recorded before there were all of today's decisions. */
  private final Map<Point, Set<Point>> formerly = new HashMap<>();

  private final List<TuningProgress.Step> curve = new ArrayList<>();

  /** Candidates that only wait for this search's turn, in the order of their proposals. */
  private final List<Measurer.Ahead> ahead = new ArrayList<>();

  private TuningProgress.@Nullable Best best;
  private int trials;
  private int resumed;
  private int underWay;
  private long start;
  private boolean known;
  private boolean prepared;
  private boolean started;

  /**
   * Prepares a search; nothing is measured yet.
   *
   * @param task what to tune for
   * @param strategy proposes candidates and learns from outcomes
   * @param proposals the strategy's own
   * @param measurer tells outcomes
   * @param database where outcomes are kept, and known from earlier runs
   * @param listener is told after every outcome, in the thread that runs
   */
  public Tuner(
      TuningTask task,
      Strategy strategy,
      Proposals proposals,
      Measurer measurer,
      TuningDatabase database,
      Consumer<TuningProgress> listener) {
    this.task = task;
    this.strategy = strategy;
    this.proposals = proposals;
    this.measurer = measurer;
    this.database = database;
    this.listener = listener;
  }

  /**
   * Plans and compiles the first candidates, and measures none: for a search whose turn on its
   * device comes later. What it is going to learn from other searches it learns now.
   *
   * @param limits of the call of {@link #run} that follows
   */
  public void begin(Limits limits) {
    resume();
    for (Candidate candidate : propose(room(limits))) {
      ahead.add(measurer.ahead(candidate));
      underWay++;
    }
  }

  /**
   * Searches until a limit is reached or there is nothing new to try. What is under way then is
   * waited for. May be called again, with higher limits.
   *
   * @param limits trials, earlier ones included, and seconds of this call
   * @return how far it is
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  public TuningProgress run(Limits limits) throws InterruptedException {
    resume();
    start();
    double since = seconds();
    ahead.forEach(candidate -> candidate.measure().thenAccept(finished::add));
    ahead.clear();
    boolean exhausted = false;
    while (true) {
      int room = !exhausted && seconds() - since < limits.seconds() ? room(limits) : 0;
      if (room > 0) {
        List<Candidate> next = propose(room);
        exhausted = next.isEmpty() && underWay == 0;
        for (Candidate candidate : next) {
          measurer.measure(candidate).thenAccept(finished::add);
          underWay++;
        }
      }
      if (underWay == 0) {
        return progress(limits);
      }
      Measurer.Trial trial = finished.poll(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
      // All that is there at once: proposing is dearer than listening.
      for (; trial != null; trial = finished.poll()) {
        underWay--;
        if (isKnown(trial)) {
          record(trial);
        }
        count(trial, seconds());
      }
      listener.accept(progress(limits));
    }
  }

  /** How many more candidates may be under way. */
  private int room(Limits limits) {
    return Math.min(measurer.width() - underWay, limits.trials() - trials - underWay);
  }

  private List<Candidate> propose(int count) {
    List<Candidate> next = count > 0 ? strategy.propose(count) : List.of();
    if (!prepared && !next.isEmpty()) {
      prepared = true;
      measurer.prepare(next.getFirst());
    }
    return next;
  }

  private void start() {
    if (!started) {
      started = true;
      start = System.nanoTime();
    }
  }

  /**
   * {@return measures the fastest once more, until one of those that were is the fastest} What
   * seems fastest of many has been lucky, and what was measured in an earlier run was measured on
   * another day. These are no trials; what is measured last is what counts.
   *
   * @param count how many at a time
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  public TuningProgress confirm(int count) throws InterruptedException {
    start();
    Set<Point> confirmed = new HashSet<>();
    for (int turn = 0; turn < MOST_CONFIRMATIONS; turn++) {
      List<Candidate> fastest = measured().limit(count).map(Measurer.Trial::candidate).toList();
      if (fastest.isEmpty() || confirmed.contains(fastest.getFirst().point())) {
        break;
      }
      List<Candidate> again =
          fastest.stream().filter(candidate -> confirmed.add(candidate.point())).toList();
      again.forEach(candidate -> measurer.measure(candidate).thenAccept(finished::add));
      for (int i = 0; i < again.size(); i++) {
        Measurer.Trial trial = finished.take();
        if (isKnown(trial)) {
          latest.put(trial.candidate().point(), trial);
          record(trial);
        }
      }
    }
    best = measured().map(Tuner::best).findFirst().orElse(null);
    return progress(new Limits(Math.max(1, trials), 1));
  }

  /**
   * Takes a candidate's time back: it turned out to be useless after all. That is written down, so
   * that no later search believes the time.
   *
   * @param candidate that was measured
   * @param failure why it is useless
   * @return with the fastest of the others
   */
  public TuningProgress reject(Candidate candidate, Outcome.Failed failure) {
    Measurer.Trial known = latest.get(candidate.point());
    Measurer.Trial rejected =
        new Measurer.Trial(candidate, known == null ? "" : known.sourceHash(), failure);
    latest.put(candidate.point(), rejected);
    failures.merge(failure.reason(), 1, Integer::sum);
    record(rejected);
    best = measured().map(Tuner::best).findFirst().orElse(null);
    return progress(new Limits(Math.max(1, trials), 1));
  }

  /** What has a time, fastest first. */
  private Stream<Measurer.Trial> measured() {
    return latest.values().stream()
        .filter(trial -> trial.outcome() instanceof Outcome.Measured)
        .sorted(Comparator.comparingDouble(trial -> best(trial).outcome().timeUs()));
  }

  private static TuningProgress.Best best(Measurer.Trial trial) {
    return new TuningProgress.Best(
        trial.candidate(), trial.sourceHash(), (Outcome.Measured) trial.outcome());
  }

  /** Whether anything is known of the candidate now: the next search measures the others. */
  private static boolean isKnown(Measurer.Trial trial) {
    return !(trial.outcome() instanceof Outcome.Failed failed)
        || failed.reason() != FailureReason.UNMEASURED;
  }

  private void record(Measurer.Trial trial) {
    Point point = trial.candidate().point();
    Stream.concat(Stream.of(point), formerly.getOrDefault(point, Set.of()).stream())
        .forEach(
            name ->
                database.add(
                    new TuningRecord(
                        task.workload(),
                        task.environment(),
                        name,
                        trial.sourceHash(),
                        trial.outcome(),
                        Instant.now())));
  }

  private void resume() {
    if (known) {
      return;
    }
    known = true;
    // Of what was measured more than once, the last time counts.
    Map<Point, Measurer.Trial> recorded = new LinkedHashMap<>();
    for (TuningRecord record : database.records(task.workload(), task.environment())) {
      Space.Drawn drawn = task.space().replay(record.point());
      Candidate candidate = drawn.candidate();
      if (candidate != null && drawn.point().agrees(record.point())) {
        if (!drawn.point().equals(record.point())) {
          formerly
              .computeIfAbsent(drawn.point(), point -> new LinkedHashSet<>())
              .add(record.point());
        }
        recorded.put(
            drawn.point(), new Measurer.Trial(candidate, record.sourceHash(), record.outcome()));
      }
    }
    resumed = recorded.size();
    recorded.values().forEach(trial -> count(trial, 0));
  }

  private void count(Measurer.Trial trial, double seconds) {
    trials++;
    latest.put(trial.candidate().point(), trial);
    strategy.learn(trial.candidate(), trial.outcome());
    switch (trial.outcome()) {
      case Outcome.Measured measured -> {
        if (best == null || measured.timeUs() < best.outcome().timeUs()) {
          best = best(trial);
          curve.add(new TuningProgress.Step(trials, seconds, measured.timeUs()));
        }
      }
      case Outcome.Failed failed -> failures.merge(failed.reason(), 1, Integer::sum);
    }
  }

  private double seconds() {
    return started ? (System.nanoTime() - start) * 1e-9 : 0;
  }

  private TuningProgress progress(Limits limits) {
    return new TuningProgress(
        trials, resumed, limits.trials(), seconds(), best, failures, proposals.rejections(), curve);
  }
}
