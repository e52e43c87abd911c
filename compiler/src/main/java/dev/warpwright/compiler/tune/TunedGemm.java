package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.tune.space.Candidate;
import dev.warpwright.tune.space.Space;
import java.util.Comparator;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * The best known kernel of a product.
 *
 * @param origin how it was found
 */
public record TunedGemm(Candidate candidate, Origin origin) {
  private static final int SAMPLES = 3000;
  private static final int CLIMBS = 400;

  /** Where a kernel comes from. */
  public enum Origin {
    /** Measured for this workload. */
    TUNED,
    /** The analytic model's choice: nothing was measured for this workload. */
    UNTUNED
  }

  /**
   * Looks in the database, and asks the analytic model if there is nothing that is still a point of
   * the space.
   */
  public static TunedGemm find(
      GemmWorkload workload,
      GpuTarget target,
      String device,
      int multiprocessors,
      TuningDatabase database) {
    Space space = GemmSpace.of(workload, target, multiprocessors);
    Optional<TuningRecord> record = database.best(GemmKeys.of(workload), target.name(), device);
    if (record.isPresent()) {
      Space.Drawn drawn = space.replay(record.get().point());
      if (drawn.candidate() != null && drawn.point().agrees(record.get().point())) {
        return new TunedGemm(drawn.candidate(), Origin.TUNED);
      }
    }
    return new TunedGemm(untuned(space), Origin.UNTUNED);
  }

  /** What the analytic model thinks fastest, by sampling and climbing; always the same. */
  public static Candidate untuned(Space space) {
    SplittableRandom random = new SplittableRandom(1);
    Comparator<Candidate> faster =
        Comparator.comparingDouble(candidate -> candidate.features().predictedUs());
    Candidate best = null;
    for (int i = 0; i < SAMPLES; i++) {
      Candidate candidate = space.sample(random).candidate();
      if (candidate != null && (best == null || faster.compare(candidate, best) < 0)) {
        best = candidate;
      }
    }
    if (best == null) {
      throw new IllegalStateException("no point of the space is a candidate");
    }
    for (int i = 0; i < CLIMBS; i++) {
      Candidate mutant = space.mutate(best.point(), random).candidate();
      if (mutant != null && faster.compare(mutant, best) < 0) {
        best = mutant;
      }
    }
    return best;
  }
}
