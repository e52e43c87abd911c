package dev.warpwright.families.tuned;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.families.GemmTiles;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.KnownRecords;
import dev.warpwright.space.record.RecordList;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.Attention;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that networks use for their products: what tuning found, or else the analytic model's
 * choice, as far as {@link GemmChooser} has nothing against it; and what tuning found for their
 * attention.
 */
public final class GemmKernels implements AutoCloseable {
  private final GemmChooser.Where where;
  private final KnownRecords database;
  private final GemmChooser chooser;

  private GemmKernels(
      GemmChooser.Where where,
      KnownRecords database,
      Optional<KernelCheck> check,
      RejectedKernels rejected) {
    this(where, database, new GemmChooser(where, database, check, rejected));
  }

  private GemmKernels(GemmChooser.Where where, KnownRecords database, GemmChooser chooser) {
    this.where = where;
    this.database = database;
    this.chooser = chooser;
  }

  private static GemmKernels of(GemmChooser.Where where, Optional<KernelCheck> check) {
    return new GemmKernels(where, records(null), check, RejectedKernels.system());
  }

  /**
   * For a device.
   *
   * @param here its name, by which records are found, and what they must agree with to count as
   *     tuned; what is blank is not compared
   */
  public static GemmKernels of(GpuTarget target, Environment here, int sms) {
    return of(new GemmChooser.Where(target, here, sms), KernelCheck.system());
  }

  /**
   * The same, with records of the user's choice.
   *
   * @param database a file of them; if there is none, those that come with Warpwright
   */
  public static GemmKernels of(
      GpuTarget target, Environment here, int multiprocessors, Path database) {
    return new GemmKernels(
        new GemmChooser.Where(target, here, multiprocessors),
        records(database),
        KernelCheck.system(),
        RejectedKernels.system());
  }

  /** The same, as if nothing had been measured. */
  public static GemmKernels untuned(GpuTarget target, Environment here, int multiprocessors) {
    return new GemmKernels(
        new GemmChooser.Where(target, here, multiprocessors),
        new RecordList(List.of()),
        KernelCheck.system(),
        RejectedKernels.system());
  }

  /** The same, but what was measured with the source of today is not compiled. */
  public GemmKernels trusting() {
    return new GemmKernels(where, database, chooser.trusting());
  }

  /** For a device that is not here: the largest of its target that is known. */
  public static GemmKernels of(GpuTarget target) {
    return of(elsewhere(target), KernelCheck.system());
  }

  /** As {@link #of(GpuTarget)}, for kernels that no compiler of CUDA sees. */
  public static GemmKernels uncompiled(GpuTarget target) {
    return of(elsewhere(target), Optional.empty());
  }

  /**
   * As {@link #of(GpuTarget)}, with the records that come with Warpwright and no others.
   *
   * @param check may be asked by several threads; empty for kernels that nobody compiles
   */
  public static GemmKernels shipped(
      GpuTarget target, Optional<KernelCheck> check, RejectedKernels rejected) {
    return new GemmKernels(elsewhere(target), ShippedRecords.records(), check, rejected);
  }

  private static GemmChooser.Where elsewhere(GpuTarget target) {
    int sms = DeviceCatalogue.sms(target);
    return new GemmChooser.Where(target, null, sms);
  }

  /**
   * The user's records if there are any and SQLite is there, and those that come with Warpwright.
   *
   * @param given a file of them; null for where they are usually
   */
  private static KnownRecords records(@Nullable Path given) {
    try {
      Path file = given == null ? TuningLocation.database() : given;
      if (TuningDatabase.isAvailable() && Files.isRegularFile(file)) {
        TuningDatabase database = TuningDatabase.open(file);
        withShipped(database);
        return database;
      }
    } catch (UserError e) {
      // Records make a network fast, not right: a broken file must not stop it, nor no home.
    }
    return ShippedRecords.records();
  }

  /** Adds what a newer Warpwright brings; a file that cannot be written serves as it is. */
  private static void withShipped(TuningDatabase database) {
    try {
      ShippedRecords.addTo(database);
    } catch (UserError e) {
      // As above.
    }
  }

  /**
   * A kernel of a product.
   *
   * @param origin how it was chosen
   * @param point the decisions behind it
   * @param predictedUs its time by the analytic model
   */
  public record Found(
      ScheduledGemm gemm, TunedGemm.Origin origin, Point point, double predictedUs) {}

  /** The kernel to use; empty if no family computes the product, or no kernel is any good. */
  public Optional<Found> find(GemmWorkload workload) {
    try {
      return Optional.of(require(workload));
    } catch (UserError | DeviceError | Rejected | ScheduleError e) {
      // A network has simple kernels too.
      return Optional.empty();
    }
  }

  /**
   * The kernel to use.
   *
   * @throws UserError if no family computes the product
   * @throws DeviceError if there is a compiler that compiles none of its kernels
   */
  public Found require(GemmWorkload workload) {
    return found(workload, chooser.choose(workload));
  }

  /**
   * The kernel of a point that was measured, whether it was the fastest or not; empty if there is
   * none.
   *
   * @param digest {@link Point#digest} of the point
   */
  public Optional<Found> recorded(GemmWorkload workload, String digest) {
    return chooser.recorded(workload, digest).map(best -> found(workload, best));
  }

  /**
   * The fastest points that were measured for a GEMM, one of each kind, the fastest first.
   *
   * @param most so many of them
   * @param slower than the fastest, at most, as 1.2
   */
  public List<Point> choices(GemmWorkload workload, int most, double slower) {
    return chooser.choices(workload, most, slower);
  }

  /** The fastest configuration of an attention that was measured, for networks that have one. */
  public Optional<TunedAttention> attention(Attention attention) {
    Environment here = where.here();
    return TunedAttention.find(
        attention, where.target(), here == null ? "" : here.device(), database);
  }

  private Found found(GemmWorkload workload, TunedGemm best) {
    return new Found(
        GemmSpace.schedule(workload, where.target(), where.sms(), best.candidate().point()),
        best.origin(),
        best.candidate().point(),
        best.expectedUs());
  }

  /**
   * What the analytic model expects of its best choice, which nobody compiles.
   *
   * @param micros its time
   * @param waves how often its blocks fill the SMs
   */
  public record Expected(double micros, double waves) {}

  /** What is expected of a GEMM's kernel; empty if no family computes it. */
  public Optional<Expected> expect(GemmWorkload workload) {
    try {
      Candidate best =
          GemmRanking.of(GemmSpace.of(workload, where.target(), where.sms())).getFirst();
      GemmTiles tiles = GemmSpace.tiles(workload, where.target(), where.sms(), best.point());
      return Optional.of(
          new Expected(best.features().predictedUs(), tiles.waves(workload, where.sms())));
    } catch (UserError | Rejected e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    database.close();
  }
}
