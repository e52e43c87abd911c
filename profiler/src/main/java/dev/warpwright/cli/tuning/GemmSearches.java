package dev.warpwright.cli.tuning;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.tune.TaskScheduler;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.MeasuringTimes;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/**
 * Searches one after the other by the same worker processes. While one measures, the first
 * candidates of the next are planned and compiled, so that the device waits for no compiler.
 */
final class GemmSearches
    implements Places.Turns<
        Measurer, TuneRequest.Search, GemmSearches.Begun, List<JointSearch.Found>> {
  /** Trials beyond the limit, as long as nothing has a time, and how many of them at a time. */
  private static final int MORE_TRIALS = 96;

  private static final int MORE_AT_A_TIME = 8;
  private static final double MORE_SECONDS = 20;

  /** A search with a tuner for each product; only of a single one are candidates under way. */
  static final class Begun {
    final TuneRequest.Search search;
    final List<Tuner> tuners = new ArrayList<>();

    /** Is told that nothing more will be proposed. */
    Runnable proposed = () -> {};

    Begun(TuneRequest.Search search) {
      this.search = search;
    }
  }

  private final List<Measurer> measurers;
  private final TuningDevice here;
  private final Supplier<TuningDatabase> database;
  private final Progress progress;
  private final List<CountDownLatch> ends;
  private final List<Optional<MeasuringTimes>> times = new ArrayList<>();

  /**
   * Prepares.
   *
   * @param measurers the places; each is closed when it has no search left
   */
  GemmSearches(
      List<Measurer> measurers,
      TuningDevice here,
      Supplier<TuningDatabase> database,
      Progress progress) {
    this.measurers = measurers;
    this.here = here;
    this.database = database;
    this.progress = progress;
    this.ends = measurers.stream().map(measurer -> new CountDownLatch(1)).toList();
    measurers.forEach(measurer -> times.add(Optional.empty()));
  }

  @Override
  public Begun begin(Measurer measurer, TuneRequest.Search search) {
    Begun begun = new Begun(search);
    Tuner.Limits limits = search.options().limits();
    List<GemmWorkload> workloads = search.products().workloads();
    for (GemmWorkload workload : workloads) {
      TuningView view = new TuningView(workload, limits.seconds(), progress(search));
      begun.tuners.add(
          GemmTuning.tuner(
              workload,
              here.environment(),
              here.sms(),
              measurer,
              database,
              search.options(),
              now -> {
                view.show(now);
                if (workloads.size() == 1 && now.wanted() - now.trials() <= measurer.width()) {
                  begun.proposed.run();
                }
              }));
    }
    if (workloads.size() == 1) {
      begun.tuners.getFirst().begin(limits);
    }
    return begun;
  }

  /** Tells which search it is that stands somewhere, where several go on. */
  private Progress progress(TuneRequest.Search search) {
    if (measurers.size() == 1) {
      return progress;
    }
    String name = search.products().workloads().getFirst().key().text();
    return new Progress() {
      @Override
      public void say(String line) {
        progress.say(line);
      }

      @Override
      public void status(String line, boolean news) {
        progress.status(name + ": " + line, news);
      }
    };
  }

  @Override
  public List<JointSearch.Found> end(Measurer measurer, Begun begun, Runnable next)
      throws InterruptedException {
    begun.proposed = next;
    Products products = begun.search.products();
    Tuner.Limits limits = begun.search.options().limits();
    List<TaskScheduler.Task> tasks = new ArrayList<>();
    for (int i = 0; i < begun.tuners.size(); i++) {
      GemmWorkload workload = products.workloads().get(i);
      progress.say(
          String.format(
              Locale.ROOT,
              "tuning %s on %s, records in %s",
              workload.key(),
              here.name(),
              database.get().file()));
      tasks.add(
          new TaskScheduler.Task(
              begun.tuners.get(i)::run, Objects.requireNonNull(products.counts().get(workload))));
    }
    if (tasks.size() == 1) {
      begun.tuners.getFirst().run(limits);
    } else {
      TaskScheduler.run(tasks, limits);
    }
    next.run();
    List<JointSearch.Found> found = new ArrayList<>();
    for (int i = 0; i < begun.tuners.size(); i++) {
      GemmWorkload workload = products.workloads().get(i);
      measureSomething(begun.tuners.get(i), limits);
      TuningProgress done = begun.tuners.get(i).confirm(GemmTuning.CONFIRMED);
      found.add(new JointSearch.Found(workload, begun.tuners.get(i), done));
      progress.say(TuningView.result(workload, done));
    }
    return found;
  }

  /** A search that has found nothing yet goes on for some trials: few may all have failed. */
  private static void measureSomething(Tuner tuner, Tuner.Limits limits)
      throws InterruptedException {
    double seconds = Math.min(limits.seconds(), MORE_SECONDS);
    TuningProgress done = tuner.run(new Tuner.Limits(1, seconds));
    int most = done.trials() + MORE_TRIALS;
    while (done.best() == null && done.trials() < most) {
      int before = done.trials();
      done = tuner.run(new Tuner.Limits(Math.min(most, before + MORE_AT_A_TIME), seconds));
      if (done.trials() == before) {
        return;
      }
    }
  }

  @Override
  public void leave(Measurer measurer) {
    int place = measurers.indexOf(measurer);
    synchronized (times) {
      times.set(place, measurer.times());
    }
    measurer.close();
    ends.get(place).countDown();
  }

  /**
   * Waits until no process holds the memory of a GPU.
   *
   * @param device its number, counted as {@link GemmTuning#measurers} does
   */
  void awaitEnd(int device) throws InterruptedException {
    ends.get(device % ends.size()).await();
  }

  /** Where the time of each measurer went that has no search left. */
  List<Optional<MeasuringTimes>> times() {
    synchronized (times) {
      return List.copyOf(times);
    }
  }
}
