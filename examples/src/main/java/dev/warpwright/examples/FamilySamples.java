package dev.warpwright.examples;

import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.verify.CheckSubject;
import dev.warpwright.verify.SampleShapes;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.GemmWorkload.Layout;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Small GEMMs out of schedules, some of each family: by threads, by warps and by warpgroups, in
 * every type and layout, with leading dimensions longer than rows or not aligned, scaled and gated
 * epilogues, batches, clusters with multicasts, split-K and Stream-K in one grid or in two, and K =
 * 0. No extent is a whole tile; K is long enough for rings of stages to come round.
 */
public final class FamilySamples {
  /** Everything an epilogue can do. */
  static final Epilogue ALL = new Epilogue(0.5, 2, true, Activation.RELU, true, true, true, true);

  private static final Map<String, Supplier<CheckSubject>> SAMPLES = new LinkedHashMap<>();

  private static final Map<String, List<Other>> OTHERS = new HashMap<>();

  /**
   * A sample's schedule for another shape.
   *
   * @param text the shape
   * @param subject throws what the schedule throws if it is not for such shapes
   */
  record Other(String text, Supplier<CheckSubject> subject) {}

  static {
    TensorCoreSamples.add();
    ThreadSamples.add();
    ProgramSamples.add();
  }

  private FamilySamples() {}

  /** Names of the samples. */
  public static Set<String> names() {
    return java.util.Collections.unmodifiableSet(SAMPLES.keySet());
  }

  /** A sample, or null if there is none of this name. */
  public static @Nullable CheckSubject find(String name) {
    Supplier<CheckSubject> sample = SAMPLES.get(name);
    return sample == null ? null : sample.get();
  }

  /** The schedule of a sample for other shapes, which it may refuse. */
  public static List<Other> others(String name) {
    return OTHERS.getOrDefault(name, List.of());
  }

  /** All samples in order. */
  public static List<CheckSubject> all() {
    return SAMPLES.values().stream().map(Supplier::get).toList();
  }

  static GemmWorkload product(long m, long n, long k, DType dtype, Epilogue epilogue) {
    return new GemmWorkload(m, n, k, dtype, dtype, Layout.NT, epilogue);
  }

  static void sample(
      String name, GemmWorkload workload, Function<GemmWorkload, ScheduledGemm> product) {
    samples(name, workload, SampleShapes.of(workload), product);
  }

  static <W> void samples(
      String name, W workload, List<W> others, Function<W, ScheduledGemm> product) {
    subjects(
        name,
        workload,
        others,
        w -> new CheckSubject.OfKernel(product.apply(w).kernel().withName(identifier(name))));
  }

  static <W> void subjects(
      String name, W workload, List<W> others, Function<W, CheckSubject> subject) {
    SAMPLES.put(name, () -> subject.apply(workload));
    OTHERS.put(
        name,
        others.stream()
            .filter(other -> !other.equals(workload))
            .map(other -> new Other(other.toString(), () -> subject.apply(other)))
            .toList());
  }

  static String identifier(String name) {
    return name.replace('-', '_');
  }
}
