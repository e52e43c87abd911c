package dev.warpwright.measure;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.families.tuned.FastKernelCheck;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.measure.baseline.Baselines;
import dev.warpwright.measure.baseline.CublasBaseline;
import dev.warpwright.measure.cublas.Cublas;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.DeviceReference;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.InterleavedTimer;
import dev.warpwright.measure.timing.KernelReport;
import dev.warpwright.measure.timing.KernelReport.Baseline;
import dev.warpwright.measure.timing.KernelReport.Compiled;
import dev.warpwright.measure.timing.KernelReport.Repeats;
import dev.warpwright.measure.timing.KernelReport.Times;
import dev.warpwright.measure.timing.KernelReport.Timing;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.predict.Prediction;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaContext;
import dev.warpwright.runtime.cuda.CudaFunction;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a kernel on a GPU: compiles it for one shape, verifies its whole result on fresh random data
 * before and after timing, and measures it beside cuBLAS on the same inputs in turn.
 */
public final class KernelBench {
  private static final long CUBLAS_WORKSPACE = 64L << 20;

  /**
   * What to run.
   *
   * @param values of the kernel's scalar parameters by name
   * @param seed of the random data
   * @param rounds of timing, at least 5; 0 to verify only
   * @param repeats launches to be compared bit by bit, in each of three modes; 0 for none
   * @param baselineKernels other kernels of the same workload to be timed beside it
   * @param predictedUs what the model by which the kernel was chosen expects; empty for the model
   *     of products in general
   */
  public record Request(
      Kernel kernel,
      Map<String, Long> values,
      long seed,
      int rounds,
      int repeats,
      List<BaselineKernel> baselineKernels,
      OptionalDouble predictedUs) {
    public Request {
      values = Map.copyOf(values);
      baselineKernels = List.copyOf(baselineKernels);
      if ((rounds < 5 && rounds != 0) || repeats < 0) {
        throw new UserError("at least 5 rounds of timing, and no negative number of repeats");
      }
    }

    /** Of a kernel that no model chose, without baselineKernels. */
    public Request(Kernel kernel, Map<String, Long> values, long seed, int rounds, int repeats) {
      this(kernel, values, seed, rounds, repeats, List.of(), OptionalDouble.empty());
    }
  }

  /** Another kernel of the workload. */
  public record BaselineKernel(String name, Kernel kernel, Map<String, Long> values) {
    public BaselineKernel {
      values = Map.copyOf(values);
    }
  }

  private final Request request;
  private final Gpu device;
  private final Consumer<String> progress;
  private final GpuTarget target;
  private final BoundKernel bound;
  private final BoundWorkload workload;

  private KernelBench(Request request, Gpu device, Consumer<String> progress) {
    this.request = request;
    this.device = device;
    this.progress = progress;
    this.target = (GpuTarget) device.target();
    this.bound = BoundKernel.of(request.kernel(), request.values());
    this.workload = bound.workload();
  }

  /**
   * Runs.
   *
   * @param progress is told what is going on
   * @return also if the result is wrong, with the reason
   * @throws UserError if kernel and values do not fit
   * @throws DeviceError if the kernel cannot be compiled or launched
   */
  public static KernelReport run(Request request, Gpu device, Consumer<String> progress) {
    return new KernelBench(request, device, progress).run();
  }

  private KernelReport run() {
    String arch = bound.kernel().attrs().getString("arch");
    if (arch != null && arch.endsWith("a") && !arch.equals(target.name())) {
      throw new UserError(
          "kernel "
              + bound.kernel().name()
              + " is for "
              + arch
              + " only, this GPU is "
              + target.name());
    }
    String source = CudaPrinter.print(bound.kernel(), target);
    Cubin cubin = CudaCompilers.compile(source, target);
    List<String> slow = FastKernelCheck.problems(bound.kernel(), cubin);
    CudaContext context = device.context();
    try (CudaModule module = context.load(cubin.bytes());
        CudaStream stream = context.newStream()) {
      GridLauncher launcher = GridLauncher.of(bound.kernel(), module);
      Compiled compiled = compiled(source, cubin, launcher.function());
      if (!slow.isEmpty()) {
        return report(
            compiled,
            null,
            FastKernelCheck.message(bound.kernel(), slow),
            null,
            List.of(),
            List.of());
      }
      try (BenchMemory memory = new BenchMemory(bound, context, stream, request.seed());
          DeviceReference reference = new DeviceReference(workload, memory, device, stream)) {
        progress.accept(
            String.format(
                Locale.ROOT,
                "%s on %s, seed %d, %d sets of inputs",
                workload.text(),
                device.name(),
                request.seed(),
                memory.count()));
        return measure(compiled, launcher, memory, reference, stream);
      }
    }
  }

  private KernelReport measure(
      Compiled compiled,
      GridLauncher launcher,
      BenchMemory memory,
      DeviceReference reference,
      CudaStream stream) {
    List<CudaLaunch> launches = new ArrayList<>();
    for (int set = 0; set < memory.count(); set++) {
      launches.add(launcher.prepare(memory.set(set), Map.of()));
    }
    launches.getFirst().run(stream);
    OutputError first = error(memory, reference, 0);
    if (!first.within(workload.tolerance())) {
      return report(
          compiled, first, wrong("the result is wrong", first), null, List.of(), List.of());
    }
    List<Repeats> repeats =
        request.repeats() == 0 ? List.of() : repeat(memory, stream, launches.getFirst(), first);
    for (Repeats r : repeats) {
      if (r.mismatches() > 0) {
        String failure =
            String.format(
                Locale.ROOT,
                "%d differences from the verified result in %d launches (%s)",
                r.mismatches(),
                r.runs(),
                r.mode());
        return report(compiled, first, failure, null, List.of(), repeats);
      }
    }
    return request.rounds() == 0
        ? report(compiled, first, null, null, List.of(), repeats)
        : time(compiled, memory, reference, stream, launches, first, repeats);
  }

  private KernelReport time(
      Compiled compiled,
      BenchMemory memory,
      DeviceReference reference,
      CudaStream stream,
      List<CudaLaunch> launches,
      OutputError first,
      List<Repeats> repeats) {
    List<TimedWork> timed = new ArrayList<>();
    timed.add(new TimedWork("ours", set -> launches.get(set).run(stream)));
    List<LoadedBaseline> loaded = new ArrayList<>();
    List<KernelReport.BaselineKernel> baselineKernels = new ArrayList<>();
    try (Baselines libraries =
        Baselines.open(workload, memory, reference, device, stream, progress)) {
      timed.addAll(libraries.admitted());
      int admitted = libraries.admitted().size();
      libraries.excluded().forEach(excluded -> timed.add(excluded.work()));
      for (BaselineKernel baselineKernel : request.baselineKernels()) {
        baselineKernels.add(prepare(baselineKernel, memory, reference, stream, loaded, timed));
      }
      int last = memory.count() - 1;
      memory.poison(last);
      List<Times> times =
          new InterleavedTimer(device.context(), stream, memory.count(), request.rounds())
              .measure(timed);
      stream.synchronize();
      // The last set was written by the launches that were timed.
      OutputError after = error(memory, reference, last);
      if (!after.within(workload.tolerance())) {
        return report(
            compiled,
            after,
            wrong("the result of the timed launches is wrong", after),
            null,
            List.of(),
            repeats);
      }
      Times ours = times.getFirst();
      double flops = workload.flops() / (ours.graphUs() * 1e-6);
      double peak = PeakRate.flops(device.context().device(), target, workload.precision());
      if (flops > peak) {
        String failure =
            String.format(
                Locale.ROOT,
                "measured %.0f TFLOP/s, more than the device's peak of %.0f: %s",
                flops / 1e12,
                peak / 1e12,
                KernelReport.MISMEASURED);
        return report(compiled, first, failure, null, List.of(), repeats);
      }
      Timing timing =
          new Timing(
              ours,
              flops / 1e12,
              workload.leastBytes() / (ours.graphUs() * 1e-6) / 1e9,
              expected(peak),
              memory.count(),
              request.rounds());
      List<Baseline> baselines = new ArrayList<>();
      for (int i = 1; i <= admitted; i++) {
        Times its = times.get(i);
        baselines.add(new Baseline(timed.get(i).name(), its, its.graphUs() / ours.graphUs()));
      }
      int next = admitted + 1;
      List<KernelReport.Excluded> excluded = new ArrayList<>();
      for (Baselines.TooImprecise one : libraries.excluded()) {
        Times its = times.get(next++);
        excluded.add(
            new KernelReport.Excluded(
                one.work().name(), its, its.graphUs() / ours.graphUs(), one.relError()));
      }
      for (int i = 0; i < baselineKernels.size(); i++) {
        KernelReport.BaselineKernel baselineKernel = baselineKernels.get(i);
        if (baselineKernel.failure() == null) {
          double us = times.get(next++).graphUs();
          baselineKernels.set(
              i,
              new KernelReport.BaselineKernel(
                  baselineKernel.name(), us, us / ours.graphUs(), null));
        }
      }
      OutputError worse = after.relative() > first.relative() ? after : first;
      return report(compiled, worse, null, timing, baselines, repeats)
          .withExcluded(excluded)
          .withBaselineKernels(baselineKernels);
    } finally {
      loaded.forEach(LoadedBaseline::close);
    }
  }

  /** Prepares and verifies another kernel; what is returned has no time yet. */
  private KernelReport.BaselineKernel prepare(
      BaselineKernel baselineKernel,
      BenchMemory memory,
      DeviceReference reference,
      CudaStream stream,
      List<LoadedBaseline> loaded,
      List<TimedWork> timed) {
    String failure = null;
    try {
      LoadedBaseline kernel = LoadedBaseline.load(baselineKernel, workload, memory, device, stream);
      loaded.add(kernel);
      kernel.enqueue(0);
      stream.synchronize();
      // The reference is that of set 0.
      OutputError error = reference.error(kernel.result(0));
      if (error.within(workload.tolerance())) {
        timed.add(new TimedWork(baselineKernel.name(), kernel::enqueue));
      } else {
        failure = wrong("its result is wrong", error);
      }
    } catch (UserError | DeviceError e) {
      if (device.context().isLost()) {
        throw e;
      }
      failure = String.valueOf(e.getMessage());
    }
    return new KernelReport.BaselineKernel(baselineKernel.name(), Double.NaN, Double.NaN, failure);
  }

  /** The bound is for units that reach {@code peak} operations a second. */
  private Prediction expected(double peak) {
    return DeviceCatalogue.find(device.name())
        .map(
            model ->
                new Prediction(
                    request.predictedUs().orElseGet(() -> Prediction.of(bound, model).micros()),
                    RooflineBound.of(
                        workload.flops(), peak, workload.leastBytes(), model.dramGBs() * 1e9)))
        .orElse(Prediction.NONE);
  }

  private OutputError error(BenchMemory memory, DeviceReference reference, int set) {
    reference.compute(set, request.seed() + set);
    OutputError error = reference.error(memory.get(set, workload.result()));
    progress.accept(
        String.format(
            Locale.ROOT,
            "set %d: relative error %.2e, greatest %.2e (elements %.2f, groups of them %.2f of what"
                + " they may be off), %d not finite",
            set,
            error.relative(),
            error.maxAbs(),
            error.deviations().element(),
            error.deviations().group(),
            error.nonFinite()));
    if (!error.within(workload.tolerance())) {
      locate(memory, reference, set);
    }
    return error;
  }

  /** Tells of every output how wrong it is, and where first. */
  private void locate(BenchMemory memory, DeviceReference reference, int set) {
    for (int i = 0; i < workload.outputs().size(); i++) {
      Buffer output = workload.outputs().get(i);
      OutputError error = reference.error(i, memory.get(set, output));
      progress.accept(
          String.format(
              Locale.ROOT,
              "%s: relative error %.2e, %d of %d elements not finite, %s at [%d, %d]",
              output.name(),
              error.relative(),
              error.nonFinite(),
              output.storageElements(),
              error.nonFinite() > 0 ? "the first" : "the greatest error",
              error.worst() / output.extent(output.rank() - 1),
              error.worst() % output.extent(output.rank() - 1)));
    }
  }

  private List<Repeats> repeat(
      BenchMemory memory, CudaStream stream, CudaLaunch launch, OutputError error) {
    Buffer output = workload.result();
    boolean exact = bound.kernel().attrs().getLong("deterministic", 1) != 0;
    double typical = Math.sqrt(error.norm() / output.storageElements());
    Kernel compare =
        exact
            ? OutputComparison.ofBits(output)
            : OutputComparison.ofValues(output, apart(), typical);
    try (CudaStream other = device.context().newStream();
        RepeatCheck check = new RepeatCheck(workload, memory, device, stream, launch, compare)) {
      @Nullable Cublas cublas = workload.hasTerms() ? Cublas.open(other).orElse(null) : null;
      try {
        if (cublas == null) {
          CudaBuffer scratch = memory.allocate(64L << 20);
          return check.run(request.repeats(), () -> scratch.poison((byte) 1, other), other);
        }
        cublas.setWorkspace(memory.allocate(CUBLAS_WORKSPACE));
        CublasBaseline busy = new CublasBaseline(workload, memory, cublas);
        int set = memory.count() - 1;
        return check.run(request.repeats(), () -> busy.enqueue(set), other);
      } finally {
        if (cublas != null) {
          cublas.close();
        }
      }
    }
  }

  /** What two honest results of kernels that add in any order may differ by, relative to both. */
  private double apart() {
    double sums = workload.deviation(workload.outputs().size() - 1).relative();
    return 2 * (ErrorBound.of(workload.result().dtype()).unit() + ErrorBound.DEVIATIONS * sums);
  }

  private String wrong(String what, OutputError error) {
    Buffer result = workload.result();
    return String.format(
        Locale.ROOT,
        "%s: %s, greatest error %.2e (seed %d)",
        what,
        error.why(workload.tolerance(), result.extent(result.rank() - 1)),
        error.maxAbs(),
        request.seed());
  }

  private Compiled compiled(String source, Cubin cubin, CudaFunction function) {
    int spills =
        cubin
            .usage(function.name())
            .map((ResourceUsage usage) -> usage.spillStores() + usage.spillLoads())
            .orElse(0);
    return new Compiled(
        SourceHash.of(source),
        function.registers(),
        KernelResources.of(bound.kernel()).sharedBytes(),
        function.localBytes(),
        spills,
        cubin.warnings());
  }

  private KernelReport report(
      Compiled compiled,
      @Nullable OutputError error,
      @Nullable String failure,
      @Nullable Timing timing,
      List<Baseline> baselines,
      List<Repeats> repeats) {
    double relative =
        error == null
            ? Double.NaN
            : error.nonFinite() > 0 ? Double.POSITIVE_INFINITY : error.relative();
    return new KernelReport(
        workload.text(),
        target.name(),
        device.name(),
        request.seed(),
        relative,
        workload.tolerance(),
        error == null || error.maxAbs() < 0 ? Double.NaN : error.maxAbs(),
        failure,
        compiled,
        timing,
        baselines,
        List.of(),
        List.of(),
        repeats);
  }
}
