package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.ir.UserError;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Space;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The best known kernel of a product.
 *
 * @param origin how it was found
 * @param untested what a record does not hold for, see {@link RecordCheck#untested}; empty unless
 *     the origin is {@link Origin#UNTESTED}
 */
public record TunedGemm(Candidate candidate, Origin origin, String untested) {
  /** Points from which the best are sought, how many of them it is sought from, and how far. */
  private static final int SAMPLES = 2000;

  private static final int STARTS = 8;
  private static final int CLIMBS = 250;
  private static final int NEIGHBOURS = 8;

  /** By how much the model may be wrong about a point that was best for a workload alike. */
  private static final double WORSE = 1.3;

  /** Where a kernel comes from. */
  public enum Origin {
    /** Verified and measured for this workload: this source, driver, compiler and device. */
    TUNED,
    /** Measured for this workload, but with another source, driver, compiler or device. */
    UNTESTED,
    /** Measured for the same shape with other types, another layout or another epilogue. */
    TRANSFERRED,
    /** The analytic model's choice: nothing was measured for this workload. */
    UNTUNED
  }

  /** A kernel that no record of another state leads to. */
  public TunedGemm(Candidate candidate, Origin origin) {
    this(candidate, origin, "");
  }

  /**
   * Looks in the database, also for what differs in types, layout or epilogue only, and asks the
   * analytic model if there is nothing that is still a point of the space.
   *
   * @param here where the kernel is to run; null if there is no such device here
   * @throws UserError if no family of kernels computes the product
   */
  public static TunedGemm find(
      GemmWorkload workload,
      GpuTarget target,
      @Nullable Environment here,
      int multiprocessors,
      TuningDatabase database) {
    Space space = GemmSpace.of(workload, target, multiprocessors);
    Optional<TuningRecord> record =
        database.best(GemmKeys.of(workload), target.name(), here == null ? "" : here.device());
    if (record.isPresent()) {
      Optional<Candidate> best =
          RecordCheck.candidate(workload, target, multiprocessors, record.get().point());
      if (best.isPresent()) {
        String untested = RecordCheck.untested(record.get(), best.get(), target, here);
        return new TunedGemm(
            best.get(), untested.isEmpty() ? Origin.TUNED : Origin.UNTESTED, untested);
      }
    }
    Candidate untuned = untuned(space);
    return transferred(workload, target, space, database, untuned)
        .map(candidate -> new TunedGemm(candidate, Origin.TRANSFERRED))
        .orElseGet(() -> new TunedGemm(untuned, Origin.UNTUNED));
  }

  /**
   * What was best for the most alike workload of the same shape, unless the analytic model expects
   * much less of it than of its own choice.
   */
  private static Optional<Candidate> transferred(
      GemmWorkload workload,
      GpuTarget target,
      Space space,
      TuningDatabase database,
      Candidate untuned) {
    double most = untuned.features().predictedUs() * WORSE;
    return database.nearest(GemmKeys.of(workload), target.name(), NEIGHBOURS).stream()
        .filter(record -> sameShape(GemmKeys.workload(record.workload()), workload))
        .map(record -> space.replay(record.point()))
        .flatMap(drawn -> Optional.ofNullable(drawn.candidate()).stream())
        .filter(candidate -> candidate.features().predictedUs() <= most)
        .findFirst();
  }

  private static boolean sameShape(GemmWorkload a, GemmWorkload b) {
    return a.m() == b.m() && a.n() == b.n() && a.k() == b.k();
  }

  /**
   * What the analytic model thinks fastest, by sampling and by climbing from the best samples;
   * always the same.
   */
  public static Candidate untuned(Space space) {
    SplittableRandom random = new SplittableRandom(1);
    Comparator<Candidate> faster =
        Comparator.comparingDouble(candidate -> candidate.features().predictedUs());
    return Stream.generate(() -> space.sample(random).candidate())
        .limit(SAMPLES)
        .filter(Objects::nonNull)
        .sorted(faster)
        .limit(STARTS)
        .map(start -> climbed(space, start, faster, random))
        .min(faster)
        .orElseThrow(() -> new UserError("no family has a kernel for this product"));
  }

  private static Candidate climbed(
      Space space, Candidate start, Comparator<Candidate> faster, SplittableRandom random) {
    Candidate best = start;
    for (int i = 0; i < CLIMBS; i++) {
      Candidate mutant = space.mutate(best.point(), random).candidate();
      if (mutant != null && faster.compare(mutant, best) < 0) {
        best = mutant;
      }
    }
    return best;
  }
}
