package dev.warpwright.families.tuned;

import dev.warpwright.base.UserError;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.KnownRecords;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A kernel of a product, chosen but not compiled: what to use is asked of {@link GemmChooser}.
 *
 * @param origin how it was found
 * @param untested what a record does not hold for, see {@link RecordCheck#untested}; empty unless
 *     the origin is {@link Origin#UNTESTED}
 */
public record TunedGemm(Candidate candidate, Origin origin, String untested) {
  private static final int NEIGHBOURS = 8;

  /** So many records of a workload are tried before the model is asked. */
  private static final int MEASURED = 4;

  /** By how much the model may be wrong about a point that was best for a workload alike. */
  private static final double WORSE = 1.3;

  /**
   * How much longer than the model computes kernels are taken to run that it has chosen: of
   * thousands it rather takes one that it expects too little of. Of 110 GEMMs drawn on 2026-11-30
   * most were within 15 % of this (docs/benchmarks, f32 of few rows); no other draw was asked.
   */
  private static final double CHOSEN = 1.07;

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

  /** Microseconds that it is expected to take. */
  public double expectedUs() {
    double computed = candidate.features().predictedUs();
    return origin == Origin.UNTUNED ? computed * CHOSEN : computed;
  }

  /**
   * A kernel that was measured.
   *
   * @param sourceHash of what was measured
   */
  record Recorded(TunedGemm gemm, String sourceHash) {}

  /**
   * The choices for what was not measured, the best first: what was measured for another workload
   * of the same shape, and what the analytic model thinks.
   *
   * @throws UserError if no family of kernels computes the product
   */
  static List<TunedGemm> modelled(
      GemmWorkload workload, GpuTarget target, int sms, KnownRecords database) {
    Space space = GemmSpace.of(workload, target, sms);
    List<Candidate> untuned = GemmRanking.of(space);
    List<TunedGemm> all = new ArrayList<>();
    transferred(workload, target, space, database, untuned.getFirst())
        .ifPresent(candidate -> all.add(new TunedGemm(candidate, Origin.TRANSFERRED)));
    untuned.forEach(candidate -> all.add(new TunedGemm(candidate, Origin.UNTUNED)));
    return all;
  }

  /**
   * The fastest that were measured for a workload, on this device if there are any. Whether a
   * record holds is looked at when its kernel is asked for.
   *
   * @param here where the kernel is to run; null if there is no such device here
   */
  static Stream<Recorded> measured(
      GemmWorkload workload,
      GpuTarget target,
      @Nullable Environment here,
      int sms,
      KnownRecords database) {
    return fastest(workload, target, here, database).stream()
        .limit(MEASURED)
        .flatMap(record -> recorded(workload, target, here, sms, record).stream());
  }

  /**
   * The kernel of the point that a digest stands for, if it was measured.
   *
   * @param digest {@link Point#digest}
   */
  static Optional<Recorded> measured(
      GemmWorkload workload,
      GpuTarget target,
      @Nullable Environment here,
      int sms,
      KnownRecords database,
      String digest) {
    return fastest(workload, target, here, database).stream()
        .filter(record -> record.point().digest().equals(digest))
        .findFirst()
        .flatMap(record -> recorded(workload, target, here, sms, record));
  }

  /**
   * The records with a time of a workload, on this device if there are any, the fastest first. Of
   * one that norms rows those of the same without: that is never timed alone.
   */
  static List<TuningRecord> fastest(
      GemmWorkload workload, GpuTarget target, @Nullable Environment here, KnownRecords database) {
    WorkloadKey key = workload.with(workload.epilogue().unnormed()).key();
    Optional<TuningRecord> best =
        database.best(key, target.name(), here == null ? "" : here.device());
    if (best.isEmpty()) {
      return List.of();
    }
    // Of what was measured more than once, the last time counts.
    Map<Point, TuningRecord> latest = new LinkedHashMap<>();
    for (TuningRecord record : database.tried(key, target.name())) {
      if (record.environment().device().equals(best.get().environment().device())) {
        latest.put(record.point(), record);
      }
    }
    Map<Point, TuningRecord> fastest = new LinkedHashMap<>();
    fastest.put(best.get().point(), best.get());
    latest.values().stream()
        .filter(record -> record.outcome() instanceof Outcome.Measured)
        .sorted(Comparator.comparingDouble(TunedGemm::timeUs))
        .forEach(record -> fastest.putIfAbsent(record.point(), record));
    return List.copyOf(fastest.values());
  }

  /** The kernel of a record, if its decisions are still a point of the space. */
  private static Optional<Recorded> recorded(
      GemmWorkload workload,
      GpuTarget target,
      @Nullable Environment here,
      int sms,
      TuningRecord record) {
    return RecordCheck.candidate(workload, target, sms, record.point())
        .map(
            candidate -> {
              String untested = RecordCheck.untested(record, candidate, target, here);
              Origin origin = untested.isEmpty() ? Origin.TUNED : Origin.UNTESTED;
              return new Recorded(new TunedGemm(candidate, origin, untested), record.sourceHash());
            });
  }

  static double timeUs(TuningRecord record) {
    return record.outcome() instanceof Outcome.Measured measured
        ? measured.timeUs()
        : Double.POSITIVE_INFINITY;
  }

  /**
   * What was best for the most alike workload of the same shape, unless the analytic model expects
   * much less of it than of its own choice.
   */
  private static Optional<Candidate> transferred(
      GemmWorkload workload,
      GpuTarget target,
      Space space,
      KnownRecords database,
      Candidate untuned) {
    double most = untuned.features().predictedUs() * WORSE;
    return database.nearest(workload.key(), target.name(), NEIGHBOURS).stream()
        .filter(record -> sameShape(GemmWorkload.of(record.workload()), workload))
        .map(record -> space.replay(record.point()))
        .flatMap(drawn -> Optional.ofNullable(drawn.candidate()).stream())
        .filter(candidate -> candidate.features().predictedUs() <= most)
        .findFirst();
  }

  private static boolean sameShape(GemmWorkload a, GemmWorkload b) {
    return a.m() == b.m() && a.n() == b.n() && a.k() == b.k();
  }

  /** What the analytic model thinks fastest; it has not been compiled. */
  public static Candidate untuned(Space space) {
    return GemmRanking.of(space).getFirst();
  }

  /**
   * What it thinks fastest, the fastest first, whose tiles differ: the first may spill, and where
   * the model is wrong of one it is of all that are like it.
   *
   * @param most so many of them
   */
  public static List<Candidate> untuned(Space space, int most) {
    Map<Point, Candidate> kinds = new LinkedHashMap<>();
    for (Candidate candidate : GemmRanking.of(space)) {
      kinds.putIfAbsent(GemmRanking.tiling(candidate.point()), candidate);
      if (kinds.size() == most) {
        break;
      }
    }
    return List.copyOf(kinds.values());
  }
}
