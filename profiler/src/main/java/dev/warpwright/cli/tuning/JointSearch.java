package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.TaskScheduler;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Searches for many products at once: trials go to whichever is expected to gain most, until the
 * time is over or every product has reached its target.
 */
final class JointSearch {
  /** Where it is measured. */
  interface Site {
    Environment environment();

    int sms();

    /** How many searches go on at the same time. */
    int slots();

    Measurer measurer(GemmWorkload workload, boolean free);
  }

  /** A product that was searched for. */
  record Found(GemmWorkload workload, Tuner tuner, TuningProgress progress) {}

  /** A product, with the options of the first line that has it. */
  private static final class Entry {
    final GemmTuning.Options options;
    double occurrences;

    Entry(GemmTuning.Options options) {
      this.options = options;
    }
  }

  private JointSearch() {}

  /**
   * Searches.
   *
   * @param searches whose trials and seconds are those of all together
   * @throws InterruptedException if the thread is interrupted; nothing measured is lost
   */
  static List<Found> run(
      List<TuneRequest.Search> searches,
      TuneRequest.Together together,
      Site site,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    Map<GemmWorkload, Entry> entries = new LinkedHashMap<>();
    long trials = 0;
    double seconds = 0;
    for (TuneRequest.Search search : searches) {
      trials += search.options().limits().trials();
      seconds += search.options().limits().seconds();
      search
          .products()
          .counts()
          .forEach(
              (workload, count) ->
                  entries.computeIfAbsent(workload, w -> new Entry(search.options())).occurrences +=
                      count);
    }
    Tuner.Limits limits =
        new Tuner.Limits(
            (int) Math.min(trials, Integer.MAX_VALUE),
            together.seconds() > 0 ? together.seconds() : seconds / site.slots());
    Optional<DeviceModel> model = model(site, together);
    List<GemmWorkload> workloads = List.copyOf(entries.keySet());
    List<Tuner> tuners = new ArrayList<>();
    List<TaskScheduler.Task> tasks = new ArrayList<>();
    entries.forEach(
        (workload, entry) -> {
          Tuner tuner =
              GemmTuning.tuner(
                  workload,
                  site.environment(),
                  site.sms(),
                  site.measurer(workload, entry.options.free()),
                  () -> database,
                  entry.options,
                  now -> {});
          tuners.add(tuner);
          double target =
              model.map(device -> target(workload, site, device, together.until())).orElse(0.0);
          tasks.add(new TaskScheduler.Task(tuner::run, entry.occurrences, target));
        });
    progress.say(
        String.format(
            Locale.ROOT,
            "tuning %d GEMMs on %s, %d at a time, at most %d trials and %.0f s, records in %s",
            tasks.size(),
            site.environment().device(),
            Math.min(site.slots(), tasks.size()),
            limits.trials(),
            limits.seconds(),
            database.file()));
    JointView view = new JointView(workloads, limits, progress);
    TaskScheduler.run(tasks, limits, Math.min(site.slots(), tasks.size()), view::show);
    return confirmed(workloads, tuners, site.slots(), progress);
  }

  private static Optional<DeviceModel> model(Site site, TuneRequest.Together together) {
    if (together.until() <= 0) {
      return Optional.empty();
    }
    String name = site.environment().device();
    return Optional.of(
        DeviceCatalogue.find(name)
            .orElseThrow(
                () ->
                    new UserError(
                        "--until "
                            + together.until()
                            + ": "
                            + name
                            + " is not in the catalogue of devices, so that nothing is known of its"
                            + " roofline; give --seconds")));
  }

  /** The time of a part of the roofline; 0 if there is none for the product. */
  private static double target(GemmWorkload workload, Site site, DeviceModel device, double part) {
    Candidate any =
        TunedGemm.untuned(
            GemmSpace.of(
                workload, GpuTarget.find(site.environment().target()).orElseThrow(), site.sms()));
    RooflineBound least =
        Prediction.of(BoundKernel.of(any.kernel().get(), any.values()), device).least();
    return least.isKnown() ? least.micros() / part : 0;
  }

  /** The fastest of each are measured once more: those of one product on one device. */
  private static List<Found> confirmed(
      List<GemmWorkload> workloads, List<Tuner> tuners, int slots, Progress progress)
      throws InterruptedException {
    return Places.each(
        IntStream.range(0, slots).boxed().toList(),
        IntStream.range(0, tuners.size()).boxed().toList(),
        (slot, i) -> {
          TuningProgress done = tuners.get(i).confirm(GemmTuning.CONFIRMED);
          progress.say(TuningView.result(workloads.get(i), done));
          return new Found(workloads.get(i), tuners.get(i), done);
        });
  }

  /** The measurers of this machine, among which the products are divided. */
  static Site here(TuningDevice device, List<Measurer> measurers) {
    return new Site() {
      private int next;

      @Override
      public Environment environment() {
        return device.environment();
      }

      @Override
      public int sms() {
        return device.sms();
      }

      @Override
      public int slots() {
        return measurers.size();
      }

      @Override
      public Measurer measurer(GemmWorkload workload, boolean free) {
        return measurers.get(next++ % measurers.size());
      }
    };
  }

  /** Where many searches stand, a line for each round of one. */
  private static final class JointView {
    private final List<GemmWorkload> workloads;
    private final Tuner.Limits limits;
    private final Progress progress;
    private final double[] bestUs;
    private final TaskScheduler.@Nullable Standing[] standings;
    private final long start = System.nanoTime();

    JointView(List<GemmWorkload> workloads, Tuner.Limits limits, Progress progress) {
      this.workloads = workloads;
      this.limits = limits;
      this.progress = progress;
      this.bestUs = new double[workloads.size()];
      this.standings = new TaskScheduler.Standing[workloads.size()];
    }

    void show(TaskScheduler.Standing standing) {
      standings[standing.place()] = standing;
      long trials = 0;
      int done = 0;
      for (TaskScheduler.Standing each : standings) {
        trials += each == null ? 0 : each.progress().trials();
        done += each != null && each.done() ? 1 : 0;
      }
      TuningProgress.Best best = standing.progress().best();
      double us = best == null ? 0 : best.outcome().timeUs();
      boolean news = us != bestUs[standing.place()] || standing.done();
      bestUs[standing.place()] = us;
      progress.status(
          String.format(
              Locale.ROOT,
              "%s: %s after %d trials%s | all: %d of %d trials, %d of %d GEMMs done, %.0f s left",
              workloads.get(standing.place()).key(),
              best == null ? "nothing measured yet" : String.format(Locale.ROOT, "%.2f us", us),
              standing.progress().trials(),
              standing.done() ? ", done" : "",
              trials,
              limits.trials(),
              done,
              workloads.size(),
              Math.max(0, limits.seconds() - (System.nanoTime() - start) * 1e-9)),
          news);
    }
  }
}
