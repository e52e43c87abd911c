package dev.warpwright.measure;

import dev.warpwright.base.DeviceError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.AdaptiveTimer;
import dev.warpwright.measure.timing.TimedGraph;
import dev.warpwright.measure.timing.TimelineProbe;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaLaunch;
import dev.warpwright.runtime.cuda.CudaModule;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.runtime.launch.GridLauncher;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.kernel.BoundKernel;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs kernels of one workload and shape on the same random data: times them, and asks them where
 * and when they compute their work items. Every launch that tells something is verified.
 */
public final class OrderBench implements AutoCloseable {
  private static final double GRAPH_US = 4_000;

  private final Gpu device;
  private final CudaStream stream;
  private final TuningData data;

  /**
   * What a kernel said.
   *
   * @param timeUs median of launches back to back in a replayed graph; NaN if the result is wrong
   * @param spread standard error of the time, as a part of it
   * @param relError the worst of all launches that were verified
   * @param records what a {@link TimelineProbe} writes; empty if the result is wrong
   * @param failure one line; null if all is well
   */
  public record Result(
      double timeUs, double spread, double relError, long[] records, @Nullable String failure) {}

  /**
   * Fills the device's memory.
   *
   * @param first any of the kernels
   * @param seed of the data
   */
  public OrderBench(Kernel first, Gpu device, long seed) {
    this.device = device;
    this.stream = device.context().newStream();
    this.data = new TuningData(BoundKernel.of(first, Map.of()), device, stream, seed);
  }

  /** Launches once and verifies, for a profiler to watch; the relative error. */
  public double launch(Kernel kernel) {
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    try (Loaded loaded = load(bound)) {
      return run(loaded, 0).relative();
    }
  }

  /** Verifies, times, verifies again, and records a timeline by a launch of its own. */
  public Result measure(Kernel kernel) {
    BoundKernel bound = BoundKernel.of(kernel, Map.of());
    double worst;
    AdaptiveTimer.Time time;
    try (Loaded loaded = load(bound)) {
      OutputError first = run(loaded, 0);
      worst = first.relative();
      if (!right(first)) {
        return wrong("the result is wrong", first);
      }
      data.poison(data.count() - 1);
      List<CudaLaunch> launches = loaded.launches().launches();
      try (TimedGraph graph =
          TimedGraph.capture(
              device.context(),
              stream,
              data.count(),
              set -> launches.get(set).run(stream),
              GRAPH_US)) {
        graph.warm(GRAPH_US);
        time = AdaptiveTimer.alone(graph::replay);
      }
      OutputError after = data.error(true);
      worst = Math.max(worst, after.relative());
      if (!right(after)) {
        return wrong("the result of the timed launches is wrong", after);
      }
    }
    checkRate(bound.workload(), time.micros());
    TimelineProbe probe = TimelineProbe.of(bound.kernel());
    Map<Buffer, BoundKernel.Content> contents = new LinkedHashMap<>(bound.contents());
    contents.put(probe.records(), new BoundKernel.Content.Poison());
    try (Loaded loaded = load(new BoundKernel(probe.kernel(), bound.workload(), contents))) {
      // The first launch is slower than those that follow; the last set was used longest ago.
      run(loaded, 0);
      OutputError error = run(loaded, data.count() - 1);
      if (!right(error)) {
        return wrong("the result of the kernel with records is wrong", error);
      }
      CudaBuffer memory = loaded.launches().own().get(probe.records());
      if (memory == null) {
        throw new IllegalStateException("no memory for the records");
      }
      long[] records = new long[Math.toIntExact(probe.records().storageElements())];
      memory.copyTo(MemorySegment.ofArray(records), 0, stream);
      stream.synchronize();
      return new Result(
          time.micros(), time.spread(), Math.max(worst, error.relative()), records, null);
    }
  }

  private boolean right(OutputError error) {
    return error.within(data.workload().tolerance());
  }

  private Result wrong(String what, OutputError error) {
    BoundWorkload workload = data.workload();
    long columns = workload.result().extent(workload.result().rank() - 1);
    return new Result(
        Double.NaN,
        Double.NaN,
        error.relative(),
        new long[0],
        what + ": " + error.why(workload.tolerance(), columns));
  }

  private void checkRate(BoundWorkload workload, double micros) {
    double peak =
        PeakRate.flops(
            device.context().device(), (GpuTarget) device.target(), workload.precision());
    if (workload.flops() / (micros * 1e-6) > peak) {
      throw new DeviceError(
          String.format(
              Locale.ROOT,
              "measured %.2f us, which is faster than the device's peak: the measurement is wrong",
              micros));
    }
  }

  /** A kernel's code and arguments. */
  private record Loaded(CudaModule module, SetLaunches launches) implements AutoCloseable {
    @Override
    public void close() {
      launches.close();
      module.close();
    }
  }

  private Loaded load(BoundKernel bound) {
    GpuTarget target = (GpuTarget) device.target();
    CudaModule module =
        device
            .context()
            .load(CudaCompilers.compile(CudaPrinter.print(bound.kernel(), target), target).bytes());
    return new Loaded(module, data.launches(bound, GridLauncher.of(bound.kernel(), module)));
  }

  /** One launch on the first or the last set. */
  private OutputError run(Loaded loaded, int set) {
    data.poison(set);
    loaded.launches().launches().get(set).run(stream);
    stream.synchronize();
    return data.error(set != 0);
  }

  @Override
  public void close() {
    data.close();
    stream.close();
  }
}
