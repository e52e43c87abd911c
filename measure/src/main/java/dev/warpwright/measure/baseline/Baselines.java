package dev.warpwright.measure.baseline;

import dev.warpwright.base.DeviceError;
import dev.warpwright.measure.reference.BenchMemory;
import dev.warpwright.measure.reference.DeviceReference;
import dev.warpwright.measure.reference.OutputError;
import dev.warpwright.measure.timing.Contestant;
import dev.warpwright.runtime.cublas.Cublas;
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
  public record TooImprecise(Contestant contestant, double relError) {}

  private final BoundWorkload workload;
  private final DeviceReference reference;
  private final Gpu device;
  private final CudaStream stream;
  private final Consumer<String> progress;
  private final List<Contestant> admitted = new ArrayList<>();
  private final List<TooImprecise> excluded = new ArrayList<>();
  private @Nullable Cublas cublas;
  private @Nullable CublasLtPeer light;

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
  public List<Contestant> admitted() {
    return admitted;
  }

  public List<TooImprecise> excluded() {
    return excluded;
  }

  private void find(BenchMemory memory) {
    cublas = workload.hasProducts() ? Cublas.open(stream).orElse(null) : null;
    if (cublas == null) {
      progress.accept(
          workload.hasProducts()
              ? "cuBLAS is not installed: there is no peer"
              : "sums of no products: there is no peer");
      return;
    }
    CudaBuffer workspace = memory.allocate(WORKSPACE);
    cublas.setWorkspace(workspace);
    CublasPeer peer = new CublasPeer(workload, memory, cublas);
    add(peer.name(), peer::enqueue, peer.result(0));
    light = CublasLtPeer.open(workload, memory, workspace, device.context(), stream).orElse(null);
    if (light != null) {
      addSuggestions(light);
    }
  }

  /** The fastest suggestion that is precise enough, and the fastest one if that is another. */
  private void addSuggestions(CublasLtPeer peer) {
    List<SuggestionRanking.Ranked> ranked = peer.ranked();
    int before = excluded.size();
    for (int place = 0; place < ranked.size(); place++) {
      int algorithm = ranked.get(place).index();
      String name = peer.name(place);
      if (add(name, set -> peer.enqueue(algorithm, set), peer.result(0))) {
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
   * precise as we have to be. One that computes something else would be no peer.
   */
  private boolean add(String name, IntConsumer enqueue, CudaBuffer result) {
    Contestant contestant = new Contestant(name, enqueue);
    if (!(workload instanceof BoundWorkload.Gemm)) {
      return admitted.add(contestant);
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
    if (!CublasPeer.isWhole(workload)) {
      return admitted.add(contestant);
    }
    OutputError error = reference.error(result);
    double relative = error.nonFinite() > 0 ? Double.POSITIVE_INFINITY : error.relative();
    if (error.within(workload.tolerance())) {
      progress.accept(String.format(Locale.ROOT, "%s: relative error %.2e", name, relative));
      return admitted.add(contestant);
    }
    progress.accept(
        String.format(
            Locale.ROOT,
            "%s is no peer: relative error %.2e, at most %.0e",
            name,
            relative,
            workload.tolerance()));
    excluded.add(new TooImprecise(contestant, relative));
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
