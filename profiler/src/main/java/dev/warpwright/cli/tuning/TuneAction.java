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
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.measure.KernelBench;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.measure.tuning.WinnerFiles;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.WorkloadKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/** Tunes a product on the GPU here, and measures the winner beside its baselines. */
public final class TuneAction implements Action<TuneRequest> {
  /** Of the data that winners are measured with, which is other data than that of the search. */
  public static final long SEED = 2;

  private static final long SEARCH_SEED = 1;

  /** Worker processes on the GPUs here. */
  static final Workers WORKERS = (target, most) -> GemmTuning.measurers(target, SEARCH_SEED, most);

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
    this(TuningDevice::find, WORKERS, TuningDevice::chooser, TuneAction::bench);
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
    Thread interrupted =
        new Thread(
            () -> progress.say("interrupted; what was measured is kept, the same command goes on"));
    Runtime.getRuntime().addShutdownHook(interrupted);
    try (DeviceQueue.Turn _ = here.turnOnAll("tune", progress);
        Started started = new Started(workers.start(here.target(), request.searches().size()));
        TuningStore.Opening store = TuningStore.opening(request.database(), progress)) {
      if (!request.together().isAsked()) {
        return separately(request, here, started.measurers(), store, progress);
      }
      TuningDatabase database = store.get();
      List<JointSearch.Found> found = together(request, here, started, database, progress);
      List<Report> reports =
          finish(
              List.of(CompletableFuture.completedFuture(found)),
              List.of(found.size()),
              new Winners(here, device -> {}),
              request,
              database,
              progress);
      return reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted; what was measured is kept, the same command goes on");
    } finally {
      forget(interrupted);
    }
  }

  private static void forget(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The program is ending: it runs.
    }
  }

  /** Worker processes, which start while the first search is planned. */
  private record Started(List<Measurer> measurers) implements AutoCloseable {
    Started {
      measurers.forEach(Measurer::open);
    }

    @Override
    public void close() {
      measurers.forEach(Measurer::close);
    }
  }

  /** Many at a time, by what each is expected to gain; the workers end with the searches. */
  private static List<JointSearch.Found> together(
      TuneRequest request,
      TuningDevice here,
      Started started,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    try (started) {
      return JointSearch.run(
          request.searches(),
          request.together(),
          JointSearch.here(here, started.measurers()),
          database,
          progress);
    }
  }

  /**
   * Searches, on as many GPUs at a time as there are, and measures the winners; a GPU that has no
   * search left does not wait for the others.
   */
  private Report separately(
      TuneRequest request,
      TuningDevice here,
      List<Measurer> measurers,
      TuningStore.Opening store,
      Progress progress)
      throws InterruptedException {
    List<TuneRequest.Search> searches = request.searches();
    GemmSearches turns = new GemmSearches(measurers, here, store, progress);
    List<CompletableFuture<List<JointSearch.Found>>> found =
        searches.stream().map(search -> new CompletableFuture<List<JointSearch.Found>>()).toList();
    List<Integer> products =
        searches.stream().map(search -> search.products().workloads().size()).toList();
    ExecutorService searching = Executors.newSingleThreadExecutor();
    try {
      var unused =
          searching.submit(
              () -> {
                Places.inTurns(measurers, searches, turns, found);
                return null;
              });
      Winners winners = new Winners(here, turns::awaitEnd);
      List<Report> reports = finish(found, products, winners, request, store.get(), progress);
      List<Winners.DeviceTimes> times = winners.times(turns.times());
      times.forEach(each -> progress.say(each.line()));
      Report report = reports.size() == 1 ? reports.getFirst() : Reports.many(reports);
      return new Report(
          report.code(),
          report.text(),
          ((Json.Members) report.json())
              .with("devices", Json.array(times, Winners.DeviceTimes::json)));
    } finally {
      searching.shutdownNow();
    }
  }

  /**
   * Each is measured beside its baselines when no worker holds its device's memory, one at a time
   * on each GPU.
   *
   * @param found of each search
   * @param products how many those will be
   */
  private List<Report> finish(
      List<CompletableFuture<List<JointSearch.Found>>> found,
      List<Integer> products,
      Winners winners,
      TuneRequest request,
      TuningDatabase database,
      Progress progress)
      throws InterruptedException {
    record Product(int search, int place) {}
    List<Product> all = new ArrayList<>();
    for (int search = 0; search < products.size(); search++) {
      for (int place = 0; place < products.get(search); place++) {
        all.add(new Product(search, place));
      }
    }
    try (winners) {
      return Places.each(
          winners.places(),
          all,
          (place, product) -> {
            place.await();
            throwFailure(found);
            JointSearch.Found its = get(found.get(product.search())).get(product.place());
            PerfAction.Bench there = place.timed(bench);
            if (winners.places().size() == 1) {
              return finish(its, all.size(), request, place.device(), database, there, progress);
            }
            // What is said of a product stays together.
            List<String> lines = new ArrayList<>();
            try {
              return finish(its, all.size(), request, place.device(), database, there, lines::add);
            } finally {
              synchronized (progress) {
                lines.forEach(progress::say);
              }
            }
          });
    }
  }

  /** A search that failed ends the command when the others are done: no winner is looked at. */
  private static void throwFailure(List<CompletableFuture<List<JointSearch.Found>>> found)
      throws InterruptedException {
    for (CompletableFuture<List<JointSearch.Found>> each : found) {
      if (each.isCompletedExceptionally()) {
        get(each);
      }
    }
  }

  private static <T> T get(CompletableFuture<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e);
    }
  }

  /** The report of a product; of several, one without a kernel does not cost the others theirs. */
  private Report finish(
      JointSearch.Found found,
      int many,
      TuneRequest request,
      TuningDevice here,
      TuningDatabase database,
      PerfAction.Bench there,
      Progress progress) {
    try {
      return finish(found, request, here, database, there, progress);
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
      PerfAction.Bench there,
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
            there.of(
                new TunedGemm(best.candidate(), TunedGemm.Origin.TUNED),
                request.rounds(),
                List.of(),
                here,
                progress);
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
      TunedGemm winner,
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
                    winner.candidate().kernel().get(),
                    winner.candidate().values(),
                    SEED,
                    rounds,
                    0,
                    baselineKernels,
                    OptionalDouble.of(winner.expectedUs())),
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
