package dev.warpwright.measure.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.runtime.cuda.CudaDevice;
import dev.warpwright.runtime.cuda.CudaDriver;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.TuningProgress;
import dev.warpwright.tune.TuningTask;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.tune.measure.ProcessMeasurer;
import dev.warpwright.tune.search.BoostedTrees;
import dev.warpwright.tune.search.CostModel;
import dev.warpwright.tune.search.EvolutionarySearch;
import dev.warpwright.tune.search.ExhaustiveSearch;
import dev.warpwright.tune.search.Proposals;
import dev.warpwright.tune.search.RandomSearch;
import dev.warpwright.tune.search.Strategy;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Tunes products on a GPU of this machine. */
public final class GemmTuning {
  private static final Duration COMPILE_LIMIT = Duration.ofSeconds(60);
  private static final int NEIGHBOURS = 4;

  /** So many of the model's choices are tried first, and so many with those of the neighbours. */
  private static final int FIRST_MODELLED = 3;

  private static final int MODELLED = 5;

  /** So many of the fastest are measured once more at the end. */
  public static final int CONFIRMED = 4;

  private static final long MOST_POINTS = 1_000_000;

  /** How points are chosen. */
  public enum Search {
    EVOLUTION,
    RANDOM,
    EXHAUSTIVE;

    /**
     * Reads a name in small letters.
     *
     * @throws UserError if there is none
     */
    public static Search parse(String text) {
      for (Search search : values()) {
        if (search.text().equals(text)) {
          return search;
        }
      }
      throw new UserError("search=" + text + ": it is evolution, random or exhaustive");
    }

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What to do.
   *
   * @param free whether all that rules allow is searched, not what has proved itself
   * @param model whether evolution learns from what it measured, or trusts the analytic model alone
   * @param transfer whether it begins with what was best for similar workloads
   */
  public record Options(
      Tuner.Limits limits,
      Search search,
      boolean free,
      boolean model,
      boolean transfer,
      long seed) {}

  private GemmTuning() {}

  /**
   * Worker processes on one GPU, so that times can be compared: one that measures, and one that
   * compiles for each core but one.
   */
  public static Measurer measurer(GpuTarget target, long seed) {
    List<Map<String, String>> one = devices(target).subList(0, 1);
    return measurer(target, seed, one, compilers(one.size(), 1));
  }

  /**
   * Worker processes on all GPUs for several searches at a time, among which GPUs and cores are
   * divided; of the GPUs that {@link CudaDriver} counts, each {@code n}-th is of one measurer.
   *
   * @param most so many measurers at most, and at most one for each GPU
   */
  public static List<Measurer> measurers(GpuTarget target, long seed, int most) {
    List<Map<String, String>> devices = devices(target);
    int count = Math.clamp(most, 1, devices.size());
    List<Measurer> measurers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int share = i;
      List<Map<String, String>> some =
          IntStream.range(0, devices.size())
              .filter(device -> device % count == share)
              .mapToObj(devices::get)
              .toList();
      measurers.add(measurer(target, seed, some, compilers(devices.size(), count)));
    }
    return measurers;
  }

  private static Measurer measurer(
      GpuTarget target, long seed, List<Map<String, String>> devices, int compilers) {
    return new ProcessMeasurer(
        new ProcessMeasurer.Setup(
            GpuWorker.command(target, seed),
            GpuWorker.compiler(target, seed),
            compilers,
            devices,
            COMPILE_LIMIT,
            Duration.ofSeconds(60)));
  }

  /** A core is left to each process that measures: it launches when its turn has come. */
  private static int compilers(int devices, int measurers) {
    int cores = Runtime.getRuntime().availableProcessors();
    return Math.max(1, (cores - devices) / measurers);
  }

  /**
   * For each GPU of the target that has the first one's name, by which records are kept, the
   * environment of a process that is to see no other one.
   */
  private static List<Map<String, String>> devices(GpuTarget target) {
    List<CudaDevice> all =
        CudaDriver.find().stream()
            .flatMap(driver -> driver.devices().stream())
            .filter(
                device ->
                    GpuTarget.forCapability(device.major(), device.minor())
                        .filter(target::equals)
                        .isPresent())
            .toList();
    // One GPU is left to the worker to find, as everywhere else.
    return all.size() < 2
        ? List.of(Map.of())
        : all.stream()
            .filter(device -> device.name().equals(all.getFirst().name()))
            .map(device -> Map.of("CUDA_VISIBLE_DEVICES", "GPU-" + device.uuid()))
            .toList();
  }

  /** Where and with what this process measures on a device. */
  public static Environment environment(
      GpuTarget target, CudaDevice device, String toolkit, String generator) {
    return new Environment(target.name(), device.name(), device.driver(), toolkit, generator);
  }

  /**
   * A search that can be continued; the options' limits are left to the caller.
   *
   * @param database is asked for when the space is there, for it may still be opening
   */
  public static Tuner tuner(
      GemmWorkload workload,
      Environment environment,
      int sms,
      Measurer measurer,
      Supplier<TuningDatabase> database,
      Options options,
      Consumer<TuningProgress> listener) {
    GpuTarget target = GpuTarget.find(environment.target()).orElseThrow();
    Space space =
        options.free()
            ? GemmSpace.free(workload, target, sms)
            : GemmSpace.of(workload, target, sms);
    WorkloadKey key = workload.key();
    Proposals proposals = new Proposals();
    List<Point> seeds = seeds(key, space, database, target, options);
    return new Tuner(
        new TuningTask(key, environment, space),
        strategy(space, proposals, options, seeds),
        proposals,
        measurer,
        database.get(),
        listener);
  }

  private static Strategy strategy(
      Space space, Proposals proposals, Options options, List<Point> seeds) {
    SplittableRandom random = new SplittableRandom(options.seed());
    return switch (options.search()) {
      case RANDOM -> new RandomSearch(space, random, proposals);
      case EXHAUSTIVE -> new ExhaustiveSearch(space, MOST_POINTS, proposals);
      case EVOLUTION ->
          new EvolutionarySearch(
              space,
              options.model() ? new BoostedTrees() : CostModel.analytic(),
              seeds,
              random,
              proposals);
    };
  }

  /**
   * What the analytic model thinks best, for no search is to end behind what is taken without one;
   * then what was best for the nearest workloads, as far as it is a point of this space, and the
   * model's next choices.
   */
  private static List<Point> seeds(
      WorkloadKey key,
      Space space,
      Supplier<TuningDatabase> database,
      GpuTarget target,
      Options options) {
    if (!options.transfer()) {
      return List.of();
    }
    List<Point> untuned =
        TunedGemm.untuned(space, MODELLED).stream().map(Candidate::point).toList();
    Stream<Point> near =
        database.get().nearest(key, target.name(), NEIGHBOURS + 1).stream()
            .filter(record -> !record.workload().equals(key))
            .limit(NEIGHBOURS)
            .map(TuningRecord::point)
            .map(point -> space.replay(point).point());
    return Stream.of(
            untuned.stream().limit(FIRST_MODELLED), near, untuned.stream().skip(FIRST_MODELLED))
        .flatMap(points -> points)
        .distinct()
        .toList();
  }
}
