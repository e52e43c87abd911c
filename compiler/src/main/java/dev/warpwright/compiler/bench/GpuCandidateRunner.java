package dev.warpwright.compiler.bench;

import dev.warpwright.compiler.GpuDevice;
import dev.warpwright.compiler.execute.GridLauncher;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CompileError;
import dev.warpwright.cuda.compile.Cubin;
import dev.warpwright.cuda.compile.ResourceUsage;
import dev.warpwright.ir.DeviceError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.UserError;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.cuda.DeviceSensors;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.measure.CandidateFailure;
import dev.warpwright.tune.measure.CandidateRunner;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.measure.Outcome;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compiles candidates for a target, and runs them on the first GPU that it fits: verified on fresh
 * random data before, and after, they are timed.
 */
public final class GpuCandidateRunner implements CandidateRunner {
  private final GpuTarget target;
  private final long seed;
  private @Nullable Bench bench;

  /** A device, and the data of the workload that was measured last. */
  private static final class Bench {
    final GpuDevice device;
    final CudaStream stream;
    final Optional<DeviceSensors> sensors;
    @Nullable String workload;
    @Nullable TuningData data;
    double best = Double.POSITIVE_INFINITY;

    Bench(GpuTarget target) {
      device = GpuDevice.require(target);
      stream = device.context().newStream();
      sensors = DeviceSensors.open(device.context().device());
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
    return KernelBench.hash(source);
  }

  private static BoundKernel bind(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    try {
      return BoundKernel.of(kernel, values);
    } catch (UserError e) {
      throw new CandidateFailure(FailureReason.REJECTED, oneLine(e));
    }
  }

  private Cubin cubin(BoundKernel bound, String source) throws CandidateFailure {
    Cubin cubin;
    try {
      cubin = GpuDevice.compile(source, target);
    } catch (CompileError e) {
      throw new CandidateFailure(FailureReason.COMPILE, oneLine(e));
    }
    Optional<ResourceUsage> usage = cubin.usage(CudaPrinter.functionName(bound.kernel()));
    int spills = usage.map(u -> u.spillStores() + u.spillLoads()).orElse(0);
    if (spills > 0) {
      throw new CandidateFailure(FailureReason.SPILL, spills + " bytes of registers are spilled");
    }
    List<String> slow = FastKernelCheck.problems(bound.kernel(), cubin);
    if (!slow.isEmpty()) {
      throw new CandidateFailure(FailureReason.SPILL, String.join("; ", slow));
    }
    return cubin;
  }

  @Override
  public Outcome.Measured time(Kernel kernel, Map<String, Long> values) throws CandidateFailure {
    BoundKernel bound = bind(kernel, values);
    Cubin cubin = cubin(bound, CudaPrinter.print(bound.kernel(), target));
    Bench here = bench();
    TuningData data = data(here, bound);
    try (CudaModule module = here.device.context().load(cubin.bytes());
        TuningData.Launches prepared =
            data.launches(bound, GridLauncher.of(bound.kernel(), module))) {
      data.poison(0);
      prepared.launches().getFirst().run(here.stream);
      here.stream.synchronize();
      double error = verified(data.relativeError(false), bound, "the result is wrong");
      data.poison(data.count() - 1);
      AdaptiveTimer.Time time =
          AdaptiveTimer.time(here.device.context(), here.stream, prepared.launches(), here.best);
      double later =
          verified(data.relativeError(true), bound, "the result of the timed launches is wrong");
      here.best = Math.min(here.best, time.micros());
      return new Outcome.Measured(
          time.micros(),
          time.spread(),
          Math.max(error, later),
          here.sensors.map(DeviceSensors::clockMhz).orElse(0),
          here.sensors.map(DeviceSensors::temperature).orElse(0));
    } catch (DeviceError e) {
      throw failure(here, e);
    }
  }

  private static double verified(double error, BoundKernel bound, String otherwise)
      throws CandidateFailure {
    double tolerance = bound.workload().tolerance();
    if (!(error <= tolerance)) {
      throw new CandidateFailure(
          FailureReason.WRONG,
          String.format(
              Locale.ROOT, "%s: relative error %.2e, at most %.0e", otherwise, error, tolerance));
    }
    return error;
  }

  /** After a fault nothing works on the device's context any more. */
  private static CandidateFailure failure(Bench here, DeviceError e) {
    try {
      here.stream.synchronize();
    } catch (DeviceError sticky) {
      return new CandidateFailure(FailureReason.FAULT, oneLine(e), true);
    }
    return new CandidateFailure(FailureReason.LAUNCH, oneLine(e));
  }

  private Bench bench() {
    if (bench == null) {
      bench = new Bench(target);
    }
    return bench;
  }

  private TuningData data(Bench here, BoundKernel bound) {
    String text = bound.workload().text();
    if (here.data == null || !text.equals(here.workload)) {
      if (here.data != null) {
        here.data.close();
        here.data = null;
      }
      here.data = new TuningData(bound, here.device, here.stream, seed);
      here.workload = text;
      here.best = Double.POSITIVE_INFINITY;
    }
    return here.data;
  }

  private static String oneLine(RuntimeException e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.lines().findFirst().orElse(e.toString());
  }
}
