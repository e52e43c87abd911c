package dev.warpwright.measure.tuning;

import dev.warpwright.families.mma.AmpereSketch;
import dev.warpwright.families.plain.PlainSketch;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.families.wgmma.HopperSketch;
import dev.warpwright.families.wgmma.PackedSketch;
import dev.warpwright.measure.tuning.Explanation.Facts;
import dev.warpwright.measure.tuning.Explanation.Row;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.search.Variants;
import dev.warpwright.tune.search.Variants.Variant;
import dev.warpwright.workload.GemmWorkload;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what the decisions behind a product's kernel are worth: each is switched off or
 * changed, one at a time, and what comes of it is measured, or predicted where there is no GPU.
 */
public final class GemmExplain {
  /** Families that multiply by tensor cores. */
  private static final Set<String> ON_TENSOR_CORES =
      Set.of(HopperSketch.NAME, PackedSketch.NAME, AmpereSketch.NAME);

  /** The space of single threads is small. */
  private static final int MOST_PLAIN = 1000;

  private final GemmWorkload workload;
  private final DeviceModel model;
  private final String device;
  private final Consumer<String> progress;

  /**
   * For a product on a device.
   *
   * @param model what the device is like
   * @param device its name, for the report
   * @param progress is told what is going on
   */
  public GemmExplain(
      GemmWorkload workload, DeviceModel model, String device, Consumer<String> progress) {
    this.workload = workload;
    this.model = model;
    this.device = device;
    this.progress = progress;
  }

  /**
   * Explains.
   *
   * @param winner the kernel
   * @param measurer times the kernels on the device; null to predict
   * @throws InterruptedException if the thread is interrupted
   */
  public Explanation explain(TunedGemm winner, @Nullable Measurer measurer)
      throws InterruptedException {
    Candidate kernel = winner.candidate();
    Space space = GemmSpace.of(workload, model.target(), model.sms(), kernel.point());
    List<Variant> variants = new ArrayList<>(Variants.of(space, kernel));
    cudaCores(kernel).ifPresent(variants::addFirst);
    progress.accept(
        String.format(
            Locale.ROOT,
            "%d kernels that differ in one decision, %s",
            variants.size(),
            measurer == null ? "predicted" : "measured"));
    List<Time> times = measurer == null ? predicted(kernel, variants) : new ArrayList<>();
    if (measurer != null) {
      times.addAll(measured(kernel, variants, measurer));
    }
    KernelFacts facts = new KernelFacts(workload, model);
    List<Candidate> candidates = new ArrayList<>(List.of(kernel));
    variants.forEach(
        variant -> Optional.ofNullable(variant.candidate()).ifPresent(candidates::add));
    progress.accept("compiling their kernels");
    facts.compile(candidates);
    Time best = times.getFirst();
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < variants.size(); i++) {
      Variant variant = variants.get(i);
      progress.accept(
          String.format(
              Locale.ROOT,
              "%d of %d: %s %s -> %s",
              i + 1,
              variants.size(),
              variant.decision(),
              variant.from(),
              variant.to()));
      rows.add(row(variant, times.get(i + 1), best, facts));
    }
    return new Explanation(
        workload.key().text(),
        model.target().name(),
        device,
        measurer != null,
        winner.origin().name().toLowerCase(Locale.ROOT),
        new Row(
            "",
            "",
            "",
            Map.of(),
            kernel.point().text(),
            best.micros(),
            best.micros() == null ? null : 1.0,
            facts.of(kernel),
            best.failure()),
        rows);
  }

  /**
   * Where tensor cores multiply: the best kernel of multiply-adds by single threads, as its model
   * sees it. Of few rows memory may be the limit, whatever multiplies.
   */
  private Optional<Variant> cudaCores(Candidate winner) {
    String sketch = String.valueOf(winner.point().option(Space.SKETCH));
    if (!ON_TENSOR_CORES.contains(sketch)
        || !PlainSketch.FAMILY.supports(workload, model.target())) {
      return Optional.empty();
    }
    GemmWorkload along = workload.withVectorsAlongK();
    Space plain = new Space(List.of(new PlainSketch(along, model.target(), model.sms())));
    List<Candidate> all = new ArrayList<>();
    plain.enumerate(
        MOST_PLAIN, drawn -> Optional.ofNullable(drawn.candidate()).ifPresent(all::add));
    return all.stream()
        .min(Comparator.comparingDouble(candidate -> candidate.features().predictedUs()))
        .map(
            best ->
                new Variant(
                    Space.SKETCH,
                    sketch,
                    PlainSketch.NAME,
                    besides(winner.point(), best.point()),
                    best,
                    null));
  }

  /** What one point decides and the other does not, or otherwise; empty where it is not asked. */
  private static Map<String, String> besides(Point from, Point to) {
    Map<String, String> besides = new LinkedHashMap<>();
    for (Point.Choice choice : to.choices()) {
      if (!choice.name().equals(Space.SKETCH)
          && !choice.option().equals(from.option(choice.name()))) {
        besides.put(choice.name(), choice.option());
      }
    }
    for (Point.Choice choice : from.choices()) {
      if (to.option(choice.name()) == null) {
        besides.put(choice.name(), "");
      }
    }
    return besides;
  }

  /** A time, or why there is none. */
  private record Time(@Nullable Double micros, @Nullable String failure) {}

  private static Row row(Variant variant, Time time, Time best, KernelFacts facts) {
    Candidate candidate = variant.candidate();
    Double ratio =
        time.micros() == null || best.micros() == null ? null : time.micros() / best.micros();
    Facts known = null;
    String failure = time.failure();
    if (candidate != null) {
      try {
        known = facts.of(candidate);
      } catch (RuntimeException e) {
        // A point that turns out to have no kernel when it is built.
        failure = failure == null ? String.valueOf(e.getMessage()) : failure;
      }
    }
    return new Row(
        variant.decision(),
        variant.from(),
        variant.to(),
        variant.also(),
        candidate == null ? "" : candidate.point().text(),
        known == null && candidate != null && failure != null ? null : time.micros(),
        known == null && candidate != null && failure != null ? null : ratio,
        known,
        failure);
  }

  private static List<Time> predicted(Candidate winner, List<Variant> variants) {
    List<Time> times = new ArrayList<>();
    times.add(new Time(winner.features().predictedUs(), null));
    for (Variant variant : variants) {
      Candidate candidate = variant.candidate();
      times.add(
          candidate == null
              ? new Time(null, variant.refusal())
              : new Time(candidate.features().predictedUs(), null));
    }
    return times;
  }

  /** The winner before and after the others: clocks change, and the better of the two is taken. */
  private static List<Time> measured(Candidate winner, List<Variant> variants, Measurer measurer)
      throws InterruptedException {
    List<@Nullable CompletableFuture<Measurer.Trial>> trials = new ArrayList<>();
    CompletableFuture<Measurer.Trial> first = measurer.measure(winner);
    for (Variant variant : variants) {
      Candidate candidate = variant.candidate();
      trials.add(candidate == null ? null : measurer.measure(candidate));
    }
    CompletableFuture<Measurer.Trial> last = measurer.measure(winner);
    List<Time> times = new ArrayList<>();
    for (int i = 0; i < variants.size(); i++) {
      CompletableFuture<Measurer.Trial> trial = trials.get(i);
      times.add(trial == null ? new Time(null, variants.get(i).refusal()) : time(trial));
    }
    Time before = time(first);
    Time after = time(last);
    boolean later =
        before.micros() == null || (after.micros() != null && after.micros() < before.micros());
    times.addFirst(later ? after : before);
    return times;
  }

  private static Time time(CompletableFuture<Measurer.Trial> trial) throws InterruptedException {
    try {
      return switch (trial.get().outcome()) {
        case Outcome.Measured measured -> new Time(measured.timeUs(), null);
        case Outcome.Failed failed ->
            new Time(null, failed.reason().text() + ": " + failed.message());
      };
    } catch (ExecutionException e) {
      return new Time(null, String.valueOf(e.getCause()));
    }
  }
}
