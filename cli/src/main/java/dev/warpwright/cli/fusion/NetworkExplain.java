package dev.warpwright.cli.fusion;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.fusion.NetworkCandidates.Made;
import dev.warpwright.cli.jobs.DeviceQueue;
import dev.warpwright.cli.networks.NetworkExplainRequest;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import dev.warpwright.cli.output.Waiting;
import dev.warpwright.cli.tuning.TuningDevice;
import dev.warpwright.compiler.fusion.NetworkCompiler;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.families.tuned.GemmKernels;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.verify.NetworkBounds;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Tabulates the ways to compute a whole network: measured where there is a GPU, predicted where
 * there is none, with what the compiler and the simulator say of each.
 */
public final class NetworkExplain implements Action<NetworkExplainRequest> {
  private static final String DEFAULT_DEVICE = "H200 SXM";
  private static final int ROUNDS = 9;

  /** So long alternatives' bank conflicts are counted; the rest is left out. */
  private static final long COUNTING_NANOS = 20_000_000_000L;

  private final Supplier<Optional<TuningDevice>> device;
  private final NetworkPerf.Bench bench;

  /** Measures on the GPU here, if there is one. */
  public NetworkExplain() {
    this(TuningDevice::look, NetworkPerf::onGpu);
  }

  /** Measures elsewhere. */
  NetworkExplain(Supplier<Optional<TuningDevice>> device, NetworkPerf.Bench bench) {
    this.device = device;
    this.bench = bench;
  }

  @Override
  public Report perform(NetworkExplainRequest request, Progress progress) {
    Optional<TuningDevice> here = request.model() == null ? device.get() : Optional.empty();
    DeviceModel model = model(request, here);
    NetworkTask task = request.task();
    NetworkCandidates candidates = new NetworkCandidates(task, model.target());
    List<Made> all;
    Made only;
    try (Waiting _ = new Waiting(progress, "choosing kernels for the ways to fuse it")) {
      all = task.merging() == null ? candidates.all() : List.of();
      only = all.isEmpty() ? candidates.chosen(null) : all.getFirst();
    }
    if (task.merging() != null
        || only.compiled().kernels().size() > 1
            && all.stream().noneMatch(made -> made.compiled().kernels().size() == 1)) {
      String device = here.map(TuningDevice::name).orElse(model.name());
      Made used = task.merging() == null ? recorded(task, candidates, model, device, only) : only;
      return wide(task, used, model, here, progress);
    }
    if (here.isEmpty()) {
      progress.say("times are predicted for an " + model.name() + ", not measured");
    }
    Map<String, NetworkResult> measured = new HashMap<>();
    if (here.isPresent()) {
      try (DeviceQueue.Turn _ = here.get().turn("explain", progress)) {
        bench
            .of(task, all.stream().map(Made::program).toList(), null, ROUNDS, true, progress)
            .results()
            .forEach(result -> measured.put(result.name(), result));
      }
    }
    List<NetworkExplanation.Row> rows = new ArrayList<>();
    List<NetworkFacts> facts;
    try (Waiting _ = new Waiting(progress, "compiling them, counting bank conflicts")) {
      facts = facts(all, task, model);
    }
    for (int i = 0; i < all.size(); i++) {
      String name = all.get(i).name();
      rows.add(new NetworkExplanation.Row(name, facts.get(i), measured.get(name)));
    }
    return new NetworkExplanation(
            task,
            here.map(TuningDevice::name).orElse(model.name()),
            here.isPresent(),
            NetworkBounds.of(task.graph(), task.precision(), task.rows(), model),
            rows)
        .report();
  }

  /** The way that records prefer, as {@code run} takes it. */
  private static Made recorded(
      NetworkTask task,
      NetworkCandidates candidates,
      DeviceModel model,
      String device,
      Made otherwise) {
    return Optional.ofNullable(NetworkRecords.best(task.key(), model.target(), device))
        .flatMap(candidates::make)
        .orElse(otherwise);
  }

  /** What no kernel computes well alone: those that do it together, and what was weighed. */
  private Report wide(
      NetworkTask task,
      Made made,
      DeviceModel model,
      Optional<TuningDevice> here,
      Progress progress) {
    List<NetworkResult> measured = new ArrayList<>();
    if (here.isPresent()) {
      try (DeviceQueue.Turn _ = here.get().turn("explain", progress)) {
        measured.addAll(
            bench
                .of(
                    task,
                    List.of(made.program()),
                    NetworkPerf.library(task, made),
                    ROUNDS,
                    false,
                    progress)
                .results());
      }
    }
    try (GemmKernels products = GemmKernels.of(model.target())) {
      return WideExplanation.of(
              task,
              made,
              products,
              model,
              here.map(TuningDevice::name).orElse(model.name()),
              measured)
          .report();
    }
  }

  private static DeviceModel model(NetworkExplainRequest request, Optional<TuningDevice> here) {
    if (request.model() != null) {
      return request.model();
    }
    DeviceModel usual = DeviceCatalogue.find(DEFAULT_DEVICE).orElseThrow();
    return here.map(
            gpu ->
                DeviceCatalogue.find(gpu.name())
                    .or(
                        () ->
                            DeviceCatalogue.ALL.stream()
                                .filter(model -> model.target() == gpu.target())
                                .findFirst())
                    .orElse(usual))
        .orElse(usual);
  }

  /** Compiled at the same time; bank conflicts are counted of one of each strategy first. */
  private static List<NetworkFacts> facts(List<Made> all, NetworkTask task, DeviceModel model) {
    Map<String, Double> conflicts = new HashMap<>();
    Map<String, Made> first = new LinkedHashMap<>();
    all.forEach(made -> first.putIfAbsent(strategy(made), made));
    List<Made> order = new ArrayList<>(first.values());
    all.stream().filter(made -> !order.contains(made)).forEach(order::add);
    long start = System.nanoTime();
    atOnce(
            order,
            made ->
                System.nanoTime() - start > COUNTING_NANOS
                    ? Optional.<Double>empty()
                    : Optional.ofNullable(NetworkFacts.conflicts(made, task.rows(), model)))
        .forEach((made, lost) -> lost.ifPresent(cycles -> conflicts.put(made.name(), cycles)));
    Map<String, Double> expected =
        new HashMap<>(NetworkCompiler.expected(task.graph(), model, task.precision(), task.rows()));
    expected.putAll(MergedWays.expected(task, model));
    Map<Made, NetworkFacts> facts =
        atOnce(
            all,
            made ->
                NetworkFacts.of(
                    made,
                    task.rows(),
                    model,
                    conflicts.get(made.name()),
                    expected.get(made.name())));
    return all.stream().map(made -> Objects.requireNonNull(facts.get(made))).toList();
  }

  private static String strategy(Made made) {
    return String.valueOf(NetworkRecords.point(made.name()).option("strategy"));
  }

  private static <T> Map<Made, T> atOnce(List<Made> all, Function<Made, T> work) {
    int threads = Math.clamp(all.size(), 1, Runtime.getRuntime().availableProcessors());
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Callable<T>> tasks = new ArrayList<>();
      all.forEach(made -> tasks.add(() -> work.apply(made)));
      List<Future<T>> done = pool.invokeAll(tasks);
      Map<Made, T> results = new LinkedHashMap<>();
      for (int i = 0; i < all.size(); i++) {
        results.put(all.get(i), done.get(i).get());
      }
      return results;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DeviceError("interrupted while kernels were compiled");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException cause
          ? cause
          : new IllegalStateException(e.getCause());
    }
  }
}
