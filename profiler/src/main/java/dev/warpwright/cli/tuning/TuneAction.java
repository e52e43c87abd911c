package dev.warpwright.cli.tuning;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.kernels.KernelBenchmark;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Reports;
import dev.warpwright.families.tuned.GemmChooser;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.measure.tuning.WinnerFiles;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.TaskScheduler;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/** Tunes a product on the GPU here, and measures the winner beside its baselines. */
public final class TuneAction implements Action<TuneRequest> {
  /** Of the data that winners are measured with, which is other data than that of the search. */
  public static final long SEED = 2;

  private static final long SEARCH_SEED = 1;

  /** Trials beyond the limit, as long as nothing has a time, and how many of them at a time. */
  private static final int MORE_TRIALS = 96;

  private static final int MORE_AT_A_TIME = 8;
  private static final double MORE_SECONDS = 20;

  private final Supplier<TuningDevice> device;
  private final Workers workers;
  private final BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers;
  private final PerfAction.Bench bench;

  /** What measures. */
  @FunctionalInterface
  interface Workers {
    /** So many at most, for searches that go on at the same time; at least one. */
    List<Measurer> start(GpuTarget target, int most);
  }

  /** Tunes on the GPU here. */
  public TuneAction() {
    this(
        TuningDevice::find,
        (target, most) -> GemmTuning.measurers(target, SEARCH_SEED, most),
        TuningDevice::chooser,
        TuneAction::bench);
  }

  /** Tunes on another device. */
  TuneAction(Supplier<TuningDevice> device, Workers workers) {
    this(device, workers, TuningDevice::chooser, TuneAction::bench);
  }

  /** Tunes on another device, and measures winners otherwise. */
  TuneAction(
      Supplier<TuningDevice> device,
      Workers workers,
      BiFunction<TuningDevice, TuningDatabase, GemmChooser> choosers,
      PerfAction.Bench bench) {
    this.device = device;
    this.workers = workers;
    this.choosers = choosers;
    this.bench = bench;
  }

  @Override
  public Report perform(TuneRequest request, Progress progress) {
    TuningDevice here = device.get();
    List<Report> reports;
    Thread interrupted =
        new Thread(
            () -> progress.say("interrupted; what was measured is kept, the same command goes on"));
    Runtime.getRuntime().addShutdownHook(interrupted);
    try (DeviceQueue.Turn _ = here.turnOnAll("tune", progress);
        TuningDatabase database = TuningStore.open(request.database(), progress)) {
      List<JointSearch.Found> found =
          request.together().isAsked()
              ? together(request, here, database, progress)
              : search(request.searches(), here, database, progress);
      reports = finish(found, request, here, database, progress);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    } finally {
      forget(interrupted);
    }
    return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The program is ending: it runs.
    }
  }

  /** Many at a time, by what each is expected to gain. */
  private List<JointSearch.Found> together(
      TuneRequest request, TuningDevice here, TuningDatabase database, Progress progress)
      throws InterruptedException {
    List<Measurer> measurers = workers.start(here.target(), request.searches().size());
    try {
      return JointSearch.run(
          request.searches(),
          request.together(),
          JointSearch.here(here, measurers),
          database,
          progress);
    } finally {
      measurers.forEach(Measurer::close);
    }
  }

  /** One after the other by the same worker processes, or as many at a time as there are GPUs. */
  private List<JointSearch.Found> search(
      List<TuneRequest.Search> searches,
      TuningDevice here,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    List<Measurer> measurers = workers.start(here.target(), searches.size());
    try {
      return Places.each(
              measurers,
              searches,
              (measurer, search) ->
                  search(
                      search,
                      here,
                      measurer,
                      database,
                      measurers.size() > 1 ? named(search, progress) : progress))
          .stream()
          .flatMap(List::stream)
          .toList();
    } finally {
      measurers.forEach(Measurer::close);
    }
  }

  /** Tells which search it is that stands somewhere, as several go on. */
  private static Progress named(TuneRequest.Search search, Progress progress) {
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

  private static List<JointSearch.Found> search(
      TuneRequest.Search search,
      TuningDevice here,
      Measurer measurer,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    Products products = search.products();
    Tuner.Limits limits = search.options().limits();
    List<Tuner> tuners = new ArrayList<>();
    List<TaskScheduler.Task> tasks = new ArrayList<>();
    for (GemmWorkload workload : products.workloads()) {
      progress.say(
          String.format(
              Locale.ROOT,
              "tuning %s on %s, records in %s",
              workload.key(),
              here.name(),
              database.file()));
      TuningView view = new TuningView(workload, limits.seconds(), progress);
      Tuner tuner =
          GemmTuning.tuner(
              workload,
              here.environment(),
              here.sms(),
              measurer,
              database,
              search.options(),
              view::show);
      tuners.add(tuner);
      tasks.add(
          new TaskScheduler.Task(
              tuner::run, Objects.requireNonNull(products.counts().get(workload))));
    }
    if (tasks.size() == 1) {
      tuners.getFirst().run(limits);
    } else {
      TaskScheduler.run(tasks, limits);
    }
    List<JointSearch.Found> found = new ArrayList<>();
    for (int i = 0; i < tuners.size(); i++) {
      GemmWorkload workload = products.workloads().get(i);
      measureSomething(tuners.get(i), limits);
      TuningProgress done = tuners.get(i).confirm(GemmTuning.CONFIRMED);
      found.add(new JointSearch.Found(workload, tuners.get(i), done));
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

  /**
   * Each is measured beside its baselines when no worker holds a device's memory, one at a time on
   * each GPU.
   */
  private List<Report> finish(
      List<JointSearch.Found> found,
      TuneRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    List<TuningDevice> devices = here.each();
    return Places.each(
        devices,
        found,
        (device, product) -> {
          if (devices.size() == 1) {
            return finish(product, found.size(), request, device, database, progress);
          }
          // What is said of a product stays together.
          List<String> lines = new ArrayList<>();
          try {
            return finish(product, found.size(), request, device, database, lines::add);
          } finally {
            synchronized (progress) {
              lines.forEach(progress::say);
            }
          }
        });
  }

  /** The report of a product; of several, one without a kernel does not cost the others theirs. */
  private Report finish(
      JointSearch.Found found,
      int many,
      TuneRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress) {
    try {
      return finish(found, request, here, database, progress);
    } catch (UserError | DeviceError e) {
      if (many == 1) {
        throw e;
      }
      PerfAction.Unmeasured failed =
          PerfAction.Unmeasured.of(Products.one(found.workload()), found.workload(), e);
      progress.say(failed.line());
      return failed.report();
    }
  }

  private Report finish(
      JointSearch.Found found,
      TuneRequest request,
      TuningDevice here,
      TuningDatabase database,
      Progress progress) {
    TuningProgress done = found.progress();
    WorkloadKey key = found.workload().key();
    while (true) {
      TuningProgress.Best best = done.best();
      if (best == null) {
        throw new DeviceError(
            String.format(
                Locale.ROOT,
                "%s: no kernel of %d could be measured: %s",
                key,
                done.trials(),
                TuningView.reasons(done)));
      }
      try {
        KernelReport report =
            bench.of(best.candidate(), request.rounds(), List.of(), here, progress);
        Path parent =
            request.folder() == null ? TuningFiles.dataFolder().resolve("tuned") : request.folder();
        Path folder = parent.resolve(WinnerFiles.folderName(key, here.target()));
        WinnerFiles.write(
            folder,
            found.workload(),
            here.environment(),
            here.sms(),
            done,
            database.records(key, here.environment()),
            report);
        progress.say("the winner's files are in " + folder);
        return report(key, done, best, report, folder);
      } catch (CandidateFailure e) {
        // With other data, or another compiler's process: the next fastest is the winner.
        Outcome.Failed failure = new Outcome.Failed(e.reason(), String.valueOf(e.getMessage()));
        choosers.apply(here, database).reject(found.workload(), best.candidate(), failure);
        done = found.tuner().reject(best.candidate(), failure);
      }
    }
  }

  /**
   * Measures a kernel of a product beside its baselines.
   *
   * @throws CandidateFailure if the kernel is what failed
   */
  static KernelReport bench(
      Candidate winner,
      int rounds,
      List<KernelBench.BaselineKernel> baselineKernels,
      TuningDevice here,
      Progress progress)
      throws CandidateFailure {
    try (Gpu device = here.open()) {
      // A device that an earlier kernel broke is not this one's fault.
      device.context().synchronize();
      try {
        KernelReport report =
            KernelBench.run(
                new KernelBench.Request(
                    winner.kernel().get(),
                    winner.values(),
                    SEED,
                    rounds,
                    0,
                    baselineKernels,
                    OptionalDouble.of(winner.features().predictedUs())),
                device,
                progress::say);
        if (report.problem().isPresent()) {
          Outcome.Failed problem = report.problem().get();
          throw new CandidateFailure(problem.reason(), problem.message());
        }
        return report;
      } catch (DeviceError e) {
        if (device.context().isLost()) {
          throw new CandidateFailure(FailureReason.FAULT, String.valueOf(e.getMessage()), true);
        }
        throw e;
      }
    }
  }

  private static Report report(
      WorkloadKey key,
      TuningProgress done,
      TuningProgress.Best best,
      KernelReport bench,
      Path folder) {
    Report kernel = KernelBenchmark.report(bench);
    List<String> lines = new ArrayList<>();
    lines.add(kernel.text());
    lines.add(
        String.format(
            Locale.ROOT,
            "best of %d trials (%d of earlier runs) in %.0f s: %.2f us while tuning",
            done.trials(),
            done.resumed(),
            done.seconds(),
            best.outcome().timeUs()));
    String failed = TuningView.reasons(done);
    if (!failed.isEmpty()) {
      lines.add("without a time: " + failed);
    }
    lines.add("decisions: " + best.candidate().point());
    Json.Members failures = Json.object();
    for (var failure : done.failures().entrySet()) {
      failures = failures.with(failure.getKey().text(), failure.getValue());
    }
    Json.Members rejections = Json.object();
    for (Map.Entry<String, Integer> rejection : done.rejections().entrySet()) {
      rejections = rejections.with(rejection.getKey(), rejection.getValue());
    }
    Json json =
        ((Json.Members) kernel.json())
            .with("trials", done.trials())
            .with("resumed", done.resumed())
            .with("seconds", done.seconds())
            .with("failures", failures)
            .with("rejections", rejections)
            .with("trace", best.candidate().point().text())
            .with("key", key.text())
            .with(
                "curve",
                Json.array(
                    done.curve(),
                    step ->
                        Json.object()
                            .with("trial", step.trial())
                            .with("seconds", step.seconds())
                            .with("timeUs", step.timeUs())))
            .with("folder", folder.toString());
    return new Report(kernel.ok(), String.join(System.lineSeparator(), lines), json);
  }
}
