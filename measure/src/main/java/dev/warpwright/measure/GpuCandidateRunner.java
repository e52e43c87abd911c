package dev.warpwright.measure;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.families.tuned.CompiledCheck;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.reference.ErrorSum;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.AdaptiveTimer;
import dev.warpwright.measure.timing.TimedGraph;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.DeviceSensors;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.CandidateRunner;
import dev.warpwright.tune.measure.Phases;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compiles candidates for a target, and runs them on the first GPU that it fits: verified on fresh
 * random data before, and after, they are timed. Each is timed in turn with one of the fastest of
 * its workload so far, by launches in graphs as long as those in which products are compared with
 * their baselines.
 */
public final class GpuCandidateRunner implements CandidateRunner {
  /** How long a candidate runs before the other one does. */
  private static final double TURN_US = 5_000;

  /** So long a device is kept busy before the first candidate of a workload is timed. */
  private static final double WARM_US = 100_000;

  /** Of so many workloads the data are kept, as long as half of the memory is free. */
  private static final int MOST_WORKS = 4;

  /**
   * A candidate takes the place of what others are compared with if it needs this part of the time,
   * or less. Few changes mean that most candidates are compared with the same one.
   */
  private static final double BETTER = 0.98;

  private final GpuTarget target;
  private final long seed;
  private @Nullable Bench bench;
  private Phases phases = Phases.NONE;

  /** A device, and the workloads that were measured last, the last one at the end. */
  private static final class Bench {
    final Gpu device;
    final CudaStream stream;
    final Optional<DeviceSensors> sensors;
    final Map<String, Work> works = new LinkedHashMap<>();

    Bench(GpuTarget target) {
      device = Gpu.require(target);
      stream = device.context().newStream();
      sensors = DeviceSensors.open(device.context().device());
    }

    /** The workload of a kernel; searches that share a worker take turns. */
    Work work(BoundKernel bound, long seed) {
      String text = bound.workload().text();
      Work work = works.remove(text);
      if (work == null) {
        // A workload may need nearly all of the memory.
        boolean large = device.context().freeBytes() < device.context().device().memoryBytes() / 2;
        while (!works.isEmpty() && (large || works.size() >= MOST_WORKS)) {
          String oldest = works.keySet().iterator().next();
          Objects.requireNonNull(works.remove(oldest)).close();
        }
        work = new Work(new TuningData(bound, device, stream, seed));
      }
      works.put(text, work);
      return work;
    }
  }

  /** Data of a workload, and what its candidates are compared with. */
  private static final class Work implements AutoCloseable {
    final TuningData data;
    @Nullable Loaded anchor;
    double anchorUs;

    Work(TuningData data) {
      this.data = data;
    }

    /** Keeps a candidate as what the next ones are compared with. */
    void keep(Loaded candidate, double micros) {
      if (anchor != null) {
        anchor.close();
      }
      anchor = candidate;
      anchorUs = micros;
    }

    @Override
    public void close() {
      if (anchor != null) {
        anchor.close();
      }
      data.close();
    }
  }

  /** A candidate on the device. */
  private record Loaded(CudaModule module, SetLaunches launches, TimedGraph graph)
      implements AutoCloseable {
    @Override
    public void close() {
      graph.close();
      launches.close();
      module.close();
    }
  }

  /**
   * Makes a runner; the device is opened when it is needed.
   *
   * @param seed of the random data
   */
  public GpuCandidateRunner(GpuTarget target, long seed) {
    this.target = target;
    this.seed = seed;
  }

  @Override
  public String compile(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    BoundKernel bound = bind(kernel, values);
    String source = CudaPrinter.print(bound.kernel(), target);
    cubin(bound, source);
    return SourceHash.of(source);
  }

  private static BoundKernel bind(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    try {
      return BoundKernel.of(kernel, values);
    } catch (UserError e) {
      throw new CandidateFailure(FailureReason.REJECTED, CandidateFailure.oneLine(e));
    }
  }

  private Cubin cubin(BoundKernel bound, String source) throws CandidateFailure {
    Cubin cubin;
    try {
      cubin = CudaCompilers.compile(source, target);
    } catch (CompileError e) {
      throw new CandidateFailure(FailureReason.COMPILE, CandidateFailure.oneLine(e));
    }
    Optional<Outcome.Failed> problem = CompiledCheck.problem(bound.kernel(), cubin);
    if (problem.isPresent()) {
      throw new CandidateFailure(problem.get().reason(), problem.get().message());
    }
    return cubin;
  }

  @Override
  public void prepare(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    try {
      TuningData.compile(bind(kernel, values).workload(), target);
    } catch (CompileError e) {
      throw new CandidateFailure(FailureReason.COMPILE, CandidateFailure.oneLine(e));
    }
  }

  @Override
  public void open() {
    bench();
  }

  /** By any small kernel, beside the cache: it is the compiler that is wanted. */
  @Override
  public void load() {
    String source =
        CudaPrinter.print(ErrorSum.of(Buffer.of("x", DType.F32, Scope.GLOBAL, 1, 1)), target);
    CudaCompilers.require().compile(new CompileRequest(source, target.name()));
  }

  @Override
  public Phases phases() {
    return phases;
  }

  @Override
  public Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    return ready(kernel, values).time();
  }

  @Override
  public Ready ready(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    BoundKernel bound = bind(kernel, values);
    Cubin cubin = cubin(bound, CudaPrinter.print(bound.kernel(), target));
    return () -> time(bound, cubin);
  }

  private Outcome.Measured time(BoundKernel bound, Cubin cubin) throws CandidateFailure {
    Bench here = bench();
    try {
      long start = System.nanoTime();
      Work work = here.work(bound, seed);
      TuningData data = work.data;
      double making = seconds(start);
      CudaModule module = here.device.context().load(cubin.bytes());
      @Nullable SetLaunches prepared = null;
      @Nullable Loaded loaded = null;
      try {
        prepared = data.launches(bound, GridLauncher.of(bound.kernel(), module));
        List<CudaLaunch> launches = prepared.launches();
        data.poison(0);
        launches.getFirst().run(here.stream);
        here.stream.synchronize();
        start = System.nanoTime();
        double error = verified(data.error(false), bound, "the result is wrong");
        double verifying = seconds(start);
        TimedGraph graph =
            TimedGraph.capture(
                here.device.context(),
                here.stream,
                data.count(),
                set -> launches.get(set).run(here.stream),
                TURN_US);
        loaded = new Loaded(module, prepared, graph);
        start = System.nanoTime();
        AdaptiveTimer.Time time = time(work, graph);
        double timing = seconds(start);
        start = System.nanoTime();
        double errorWhenTimed = errorWhenTimed(here, data, graph, bound);
        phases = new Phases(making, verifying + seconds(start), timing);
        Outcome.Measured measured =
            new Outcome.Measured(
                time.micros(),
                time.spread(),
                Math.max(error, errorWhenTimed),
                here.sensors.map(DeviceSensors::clockMhz).orElse(0),
                here.sensors.map(DeviceSensors::temperature).orElse(0));
        if (work.anchor == null || time.micros() < BETTER * work.anchorUs) {
          work.keep(loaded, time.micros());
        }
        return measured;
      } finally {
        if (loaded == null) {
          if (prepared != null) {
            prepared.close();
          }
          module.close();
        } else if (loaded != work.anchor) {
          loaded.close();
        }
      }
    } catch (DeviceError e) {
      throw failure(here, e);
    }
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }

  /** In turn with the anchor; alone, on a busy device, if it is the first. */
  private static AdaptiveTimer.Time time(Work work, TimedGraph graph) {
    if (work.anchor == null) {
      graph.warm(WARM_US);
      return AdaptiveTimer.alone(graph::replay);
    }
    return AdaptiveTimer.against(
        new AdaptiveTimer.Anchor(work.anchor.graph()::replay, work.anchorUs), graph::replay);
  }

  /** The error of what the graph that was timed computes: others wrote to the same memory. */
  private static double errorWhenTimed(
      Bench here, TuningData data, TimedGraph graph, BoundKernel bound) throws CandidateFailure {
    data.poison(data.count() - 1);
    graph.replay();
    here.stream.synchronize();
    return verified(data.error(true), bound, "the result of the timed launches is wrong");
  }

  private static double verified(OutputError error, BoundKernel bound, String otherwise)
      throws CandidateFailure {
    BoundWorkload workload = bound.workload();
    double tolerance = workload.tolerance();
    if (!error.within(tolerance)) {
      long columns = workload.result().extent(workload.result().rank() - 1);
      throw new CandidateFailure(
          FailureReason.WRONG, otherwise + ": " + error.why(tolerance, columns));
    }
    return error.relative();
  }

  /** After a fault nothing works on the device's context any more. */
  private static CandidateFailure failure(Bench here, DeviceError e) {
    try {
      here.stream.synchronize();
    } catch (DeviceError sticky) {
      return new CandidateFailure(FailureReason.FAULT, CandidateFailure.oneLine(e), true);
    }
    return new CandidateFailure(FailureReason.LAUNCH, CandidateFailure.oneLine(e));
  }

  private Bench bench() {
    if (bench == null) {
      bench = new Bench(target);
    }
    return bench;
  }
}
