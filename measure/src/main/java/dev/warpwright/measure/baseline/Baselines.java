package dev.warpwright.measure.baseline;

import dev.warpwright.base.DeviceError;
import dev.warpwright.measure.cublas.Cublas;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.DeviceReference;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.TimedWork;
import dev.warpwright.runtime.cuda.CudaBuffer;
import dev.warpwright.runtime.cuda.CudaStream;
import dev.warpwright.runtime.launch.Gpu;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The libraries that a kernel is compared with, opened and checked: each is as precise as ours has
 * to be, or is named as one that is not. What is not is timed all the same, so that nobody has to
 * guess whether it would have won.
 */
public final class Baselines implements AutoCloseable {
  private static final long WORKSPACE = 64L << 20;
  private static final byte POISON = (byte) 0xFF;

  /**
   * A library whose result misses the tolerance.
   *
   * @param relError of its result; infinite if an element is not finite
   */
  public record TooImprecise(TimedWork work, double relError) {}

  private final BoundWorkload workload;
  private final DeviceReference reference;
  private final Gpu device;
  private final CudaStream stream;
  private final Consumer<String> progress;
  private final List<TimedWork> admitted = new ArrayList<>();
  private final List<TooImprecise> excluded = new ArrayList<>();
  private @Nullable Cublas cublas;
  private @Nullable CublasLtBaseline light;

  private Baselines(
      BoundWorkload workload,
      DeviceReference reference,
      Gpu device,
      CudaStream stream,
      Consumer<String> progress) {
    this.workload = workload;
    this.reference = reference;
    this.device = device;
    this.stream = stream;
    this.progress = progress;
  }

  /**
   * Opens those that are installed.
   *
   * @param reference of set 0, by which results are checked
   * @param progress is told of each
   */
  public static Baselines open(
      BoundWorkload workload,
      BenchMemory memory,
      DeviceReference reference,
      Gpu device,
      CudaStream stream,
      Consumer<String> progress) {
    Baselines baselines = new Baselines(workload, reference, device, stream, progress);
    try {
      baselines.find(memory);
      return baselines;
    } catch (RuntimeException e) {
      baselines.close();
      throw e;
    }
  }

  /** Those that ours is compared with. */
  public List<TimedWork> admitted() {
    return admitted;
  }

  public List<TooImprecise> excluded() {
    return excluded;
  }

  private void find(BenchMemory memory) {
    cublas = workload.hasTerms() ? Cublas.open(stream).orElse(null) : null;
    if (cublas == null) {
      progress.accept(
          workload.hasTerms()
              ? "cuBLAS is not installed: there is no baseline"
              : "K = 0: there is no baseline");
      return;
    }
    CudaBuffer workspace = memory.allocate(WORKSPACE);
    cublas.setWorkspace(workspace);
    CublasBaseline baseline = new CublasBaseline(workload, memory, cublas);
    add(baseline.name(), baseline::enqueue, baseline.result(0));
    light =
        CublasLtBaseline.open(workload, memory, workspace, device.context(), stream).orElse(null);
    if (light != null) {
      addSuggestions(light);
    }
  }

  /** The fastest suggestion that is precise enough, and the fastest one if that is another. */
  private void addSuggestions(CublasLtBaseline baseline) {
    List<SuggestionRanking.Ranked> ranked = baseline.ranked();
    int before = excluded.size();
    for (int place = 0; place < ranked.size(); place++) {
      int algorithm = ranked.get(place).index();
      String name = baseline.name(place);
      if (add(name, set -> baseline.enqueue(algorithm, set), baseline.result(0))) {
        return;
      }
      // One of those that are faster stands for them all.
      while (excluded.size() > before + 1) {
        excluded.removeLast();
      }
    }
  }

  /**
   * Whether a library takes the workload, as not all do where rows are not aligned, and is as
   * precise as we have to be. One that computes something else would be no baseline.
   */
  private boolean add(String name, IntConsumer enqueue, CudaBuffer result) {
    TimedWork work = new TimedWork(name, enqueue);
    if (!(workload instanceof BoundWorkload.Gemm)) {
      return admitted.add(work);
    }
    try {
      // An element that it does not write must not look like one that somebody else wrote.
      result.poison(POISON, stream);
      // The reference is that of set 0.
      enqueue.accept(0);
    } catch (DeviceError e) {
      if (device.context().isLost()) {
        throw e;
      }
      progress.accept(name + " does not take this: " + e.getMessage());
      return false;
    }
    stream.synchronize();
    if (!CublasBaseline.isWhole(workload)) {
      return admitted.add(work);
    }
    OutputError error = reference.error(result);
    double relative = error.nonFinite() > 0 ? Double.POSITIVE_INFINITY : error.relative();
    if (error.within(workload.tolerance())) {
      progress.accept(String.format(Locale.ROOT, "%s: relative error %.2e", name, relative));
      return admitted.add(work);
    }
    progress.accept(
        String.format(
            Locale.ROOT,
            "%s is no baseline: relative error %.2e, at most %.0e",
            name,
            relative,
            workload.tolerance()));
    excluded.add(new TooImprecise(work, relative));
    return false;
  }

  /** Must happen before the stream closes. */
  @Override
  public void close() {
    if (light != null) {
      light.close();
    }
    if (cublas != null) {
      cublas.close();
    }
  }
}
