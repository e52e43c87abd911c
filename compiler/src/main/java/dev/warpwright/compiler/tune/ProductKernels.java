package dev.warpwright.compiler.tune;

import dev.warpwright.families.GemmWorkload;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.ir.UserError;
import dev.warpwright.schedule.ScheduleError;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.DeviceModel;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.Environment;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.space.Rejected;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that networks use for their products: what tuning found, or else the analytic model's
 * choice.
 */
public final class ProductKernels implements AutoCloseable {
  private final GpuTarget target;
  private final @Nullable Environment here;
  private final int multiprocessors;
  private final TuningDatabase database;

  private ProductKernels(
      GpuTarget target, @Nullable Environment here, int multiprocessors, TuningDatabase database) {
    this.target = target;
    this.here = here;
    this.multiprocessors = multiprocessors;
    this.database = database;
  }

  /**
   * For a device.
   *
   * @param here its name, by which records are found, and what they must agree with to count as
   *     tuned; what is blank is not compared
   */
  public static ProductKernels of(GpuTarget target, Environment here, int multiprocessors) {
    return new ProductKernels(target, here, multiprocessors, database());
  }

  /** For a device that is not here: the largest of its target that is known. */
  public static ProductKernels of(GpuTarget target) {
    int multiprocessors =
        DeviceCatalogue.ALL.stream()
            .filter(model -> model.target() == target)
            .mapToInt(DeviceModel::multiprocessors)
            .max()
            .orElse(1);
    return new ProductKernels(target, null, multiprocessors, database());
  }

  /** The user's records if there are any, and those that come with Warpwright. */
  private static TuningDatabase database() {
    Path file = TuningLocation.database();
    if (Files.isRegularFile(file)) {
      try {
        TuningDatabase database = TuningDatabase.open(file);
        withShipped(database);
        return database;
      } catch (UserError e) {
        // Records make a network fast, not right: a broken file must not stop it.
      }
    }
    TuningDatabase shipped = TuningDatabase.inMemory();
    ShippedRecords.addTo(shipped);
    return shipped;
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
   * @param predictedUs its time by the analytic model
   */
  public record Found(ScheduledGemm gemm, TunedGemm.Origin origin, double predictedUs) {}

  /** The best known kernel; empty if no family computes the product. */
  public Optional<Found> find(GemmWorkload workload) {
    try {
      TunedGemm best = TunedGemm.find(workload, target, here, multiprocessors, database);
      return Optional.of(
          new Found(
              GemmSpace.schedule(workload, target, multiprocessors, best.candidate().point()),
              best.origin(),
              best.candidate().features().predictedUs()));
    } catch (UserError | Rejected | ScheduleError e) {
      // No family, or its kernel turns out to be impossible: a network has simple kernels too.
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    database.close();
  }
}
