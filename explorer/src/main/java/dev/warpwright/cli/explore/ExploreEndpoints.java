package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.devices.TargetName;
import dev.warpwright.cli.kernels.KernelAction;
import dev.warpwright.cli.kernels.KernelFile;
import dev.warpwright.cli.kernels.KernelRequest;
import dev.warpwright.cli.kernels.KernelRequest.Task;
import dev.warpwright.cli.kernels.KernelRequest.Timing;
import dev.warpwright.cli.orders.OrderAction;
import dev.warpwright.cli.orders.OrderRequest;
import dev.warpwright.cli.output.Report;
import dev.warpwright.explorer.Endpoint;
import dev.warpwright.explorer.Jobs;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.perf.order.OrderSearch;
import dev.warpwright.perf.order.SearchMonitor;
import dev.warpwright.perf.order.TileProblem;
import dev.warpwright.perf.order.WorkItem;
import dev.warpwright.perf.predict.Part.GemmShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * What the page asks for. Answers are those of the commands: {@code /api/analyze?words=gemm+M=16…}
 * is {@code warpwright analyze gemm M=16… --json}.
 */
final class ExploreEndpoints {
  private static final long SHOWN_ROWS = 16;
  private static final long SHOWN_EXTENT = 4096;
  private static final int MOST_CAPACITIES = 16;

  /** That a search may take for one capacity. */
  private static final String CAPACITY_SECONDS = "4";

  private final KernelFolder kernels;
  private final TuningRuns tuning;
  private final TunedKernels tuned;
  private final MeasureEndpoints measuring;
  private final Jobs jobs;

  ExploreEndpoints(
      KernelFolder kernels,
      TuningRuns tuning,
      TunedKernels tuned,
      MeasureEndpoints measuring,
      Jobs jobs) {
    this.kernels = kernels;
    this.tuning = tuning;
    this.tuned = tuned;
    this.measuring = measuring;
    this.jobs = jobs;
  }

  /** What changes nothing. */
  Map<String, Endpoint> readers() {
    return Map.ofEntries(
        Map.entry("devices", p -> AnalyzeEndpoints.devices().write()),
        Map.entry("analyze", p -> AnalyzeEndpoints.analyze(p).write()),
        Map.entry("device", p -> AnalyzeEndpoints.device(p).write()),
        Map.entry("chain", p -> ChainEndpoints.chain(p).write()),
        Map.entry("staircase", p -> AnalyzeEndpoints.staircase(p).write()),
        Map.entry("gpu", p -> measuring.gpu().write()),
        Map.entry("recorded", p -> recorded(p).write()),
        Map.entry("job", p -> jobs.status(p.getOrDefault("id", ""))),
        Map.entry("kernels", p -> kernelNames().write()),
        Map.entry("kernel", p -> kernel(p).write()),
        Map.entry("tuning", p -> tuning.summaries().write()),
        Map.entry("tuned", p -> tuned.texts(p).write()),
        Map.entry(
            "tuning-run",
            p -> tuning.run(p.getOrDefault("workload", ""), p.getOrDefault("device", "")).write()));
  }

  /** What starts or ends work. */
  Map<String, Endpoint> actors() {
    return Map.of(
        "analyze", p -> AnalyzeEndpoints.analyze(p).write(),
        "search", this::search,
        "optima", this::optima,
        "simulate", this::simulate,
        "measure", this::measure,
        "explain", p -> started(jobs.start("explain", tuned.explain(p))),
        "counters", p -> started(jobs.start("counters", tuned.counters(p))),
        "cancel", this::cancel);
  }

  private Json recorded(Map<String, String> parameters) {
    KeyValues values = AnalyzeEndpoints.values(parameters);
    GemmShape shape = AnalyzeEndpoints.shape(values);
    values.finish("M, N, K, dtype");
    return measuring.recorded(shape);
  }

  private String search(Map<String, String> parameters) {
    OrderRequest request =
        OrderRequest.of(
            OrderRequest.Task.SEARCH,
            AnalyzeEndpoints.values(parameters),
            new OrderRequest.Files(null, null));
    TileProblem problem = request.problem();
    long id =
        jobs.start(
            "search",
            job ->
                OrderAction.json(
                        request,
                        OrderSearch.search(
                            new OrderSearch.Request(
                                problem,
                                request.policy(),
                                request.limits().seed(),
                                request.limits().seconds()),
                            new Watching(job, problem)))
                    .write());
    return started(id);
  }

  /** The least loads with each of some capacities, proven where there is time. */
  private String optima(Map<String, String> parameters) {
    Map<String, String> rest = new TreeMap<>(parameters);
    String[] capacities = rest.getOrDefault("capacities", "").split(" ", -1);
    rest.remove("capacities");
    if (capacities.length > MOST_CAPACITIES) {
      throw new UserError("capacities: at most " + MOST_CAPACITIES);
    }
    List<OrderRequest> requests = new ArrayList<>();
    for (String capacity : capacities) {
      rest.put("capacity", capacity);
      rest.put("seconds", CAPACITY_SECONDS);
      requests.add(
          OrderRequest.of(
              OrderRequest.Task.SEARCH,
              AnalyzeEndpoints.values(rest),
              new OrderRequest.Files(null, null)));
    }
    return started(
        jobs.start(
            "optima",
            job -> {
              List<Json> optima = new ArrayList<>();
              for (OrderRequest request : requests) {
                OrderSearch.Result result =
                    OrderSearch.search(
                        new OrderSearch.Request(
                            request.problem(), request.policy(), 1, request.limits().seconds()),
                        new Watching(job, request.problem()));
                optima.add(
                    Json.object()
                        .with("loads", result.simulation().loads())
                        .with("lowerBound", result.lowerBound())
                        .with("proven", result.proven()));
              }
              return Json.object().with("optima", new Json.Array(optima)).write();
            }));
  }

  private static String started(long id) {
    return Json.object().with("id", id).write();
  }

  private String measure(Map<String, String> parameters) {
    Map<String, String> rest = new TreeMap<>(parameters);
    boolean counters = !"no".equals(rest.remove("counters"));
    return started(measuring.measure(AnalyzeEndpoints.values(rest), counters));
  }

  private String cancel(Map<String, String> parameters) {
    jobs.cancel(parameters.getOrDefault("id", ""));
    return Json.object().with("cancelled", true).write();
  }

  private Json kernelNames() {
    return Json.object()
        .with("folder", kernels.folder().toString())
        .with("kernels", Json.array(kernels.names(), Json::of));
  }

  /** A kernel's text, and its CUDA C++ for one shape. */
  private Json kernel(Map<String, String> parameters) {
    String name = parameters.getOrDefault("name", "");
    KernelFile file = KernelFile.read(kernels.file(name));
    Map<String, Long> values = new TreeMap<>();
    file.gridKernels(Map.of()).stream()
        .flatMap(kernel -> kernel.scalars().stream())
        .filter(scalar -> !scalar.name().startsWith("T"))
        .forEach(scalar -> values.put(scalar.name(), shown(scalar)));
    List<String> shape = values.entrySet().stream().map(Map.Entry::toString).toList();
    return Json.object()
        .with("name", name)
        .with("names", Json.array(file.names(), Json::of))
        .with("text", kernels.text(name))
        .with("cuda", cuda(name, values))
        .with("shape", String.join(" ", shape));
  }

  /** A value that a kernel takes. */
  private static long shown(ScalarParam scalar) {
    long usual = scalar.name().equals("M") ? SHOWN_ROWS : SHOWN_EXTENT;
    return Math.clamp(usual, scalar.min(), scalar.max());
  }

  private String cuda(String name, Map<String, Long> values) {
    return new KernelAction().perform(request(name, Task.CUDA, values), line -> {}).text();
  }

  private KernelRequest request(String name, Task task, Map<String, Long> values) {
    return new KernelRequest(
        kernels.file(name),
        task,
        task == Task.SIMULATE ? TargetName.SIM : TargetName.SM_90A,
        null,
        OptionalInt.empty(),
        values,
        Map.of(),
        1,
        new Timing(0, 0),
        null);
  }

  /** Runs a kernel in the simulator. */
  private String simulate(Map<String, String> parameters) {
    Map<String, String> rest = new TreeMap<>(parameters);
    String name = rest.getOrDefault("name", "");
    rest.remove("name");
    KernelRequest request =
        request(name, Task.SIMULATE, AnalyzeEndpoints.values(rest).otherNumbers());
    long id =
        jobs.start(
            "simulate",
            job -> {
              Report report =
                  new KernelAction().perform(request, line -> job.report(Json.of(line).write()));
              return Json.object()
                  .with("ok", report.ok())
                  .with("text", report.text())
                  .with("details", report.json())
                  .write();
            });
    return started(id);
  }

  /** Tells a job how far a search is, a few times a second. */
  private static final class Watching implements SearchMonitor {
    private static final long BETWEEN = 150_000_000L;

    private final Jobs.Job job;
    private final TileProblem problem;
    private long last;

    Watching(Jobs.Job job, TileProblem problem) {
      this.job = job;
      this.problem = problem;
    }

    @Override
    public boolean cancelled() {
      return job.cancelled();
    }

    @Override
    public void progress(long states, long lowerBound, long loads, List<WorkItem> path) {
      long now = System.nanoTime();
      if (now - last > BETWEEN) {
        last = now;
        job.report(
            Json.object()
                .with("states", states)
                .with("lowerBound", lowerBound)
                .with("loads", loads)
                .with("path", OrderRequest.path(problem, path))
                .write());
      }
    }
  }
}
