package dev.warpwright.compiler.records;

import dev.warpwright.base.UserError;
import dev.warpwright.compiler.fusion.PerLayerWay;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.families.tuned.TuningLocation;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.KnownRecords;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.WorkloadKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What tuning found out about whole networks: the names of {@linkplain
 * dev.warpwright.compiler.fusion.Alternative alternatives}, as points of records and back.
 */
public final class NetworkRecords {
  private static final String STRATEGY = "strategy";

  /** Row counts may be so many powers of two apart for one's record to serve the other. */
  private static final double FARTHEST = 3.5;

  private NetworkRecords() {}

  /**
   * An alternative's name as a point: {@code register chaining consumers=6} is {@code
   * strategy=register-chaining consumers=6}.
   */
  public static Point point(String name) {
    List<String> strategy = new ArrayList<>();
    List<String> choices = new ArrayList<>();
    for (String word : name.split(" ", -1)) {
      (word.indexOf('=') > 0 ? choices : strategy).add(word);
    }
    return Point.parse(
        STRATEGY + "=" + String.join("-", strategy) + " " + String.join(" ", choices));
  }

  /** The name that a point was made of; null if it is of something else. */
  public static @Nullable String name(Point point) {
    String strategy = point.option(STRATEGY);
    return strategy == null
        ? null
        : (strategy.replace('-', ' ') + " " + point.without(STRATEGY).text()).strip();
  }

  /**
   * The fastest alternative that a database knows.
   *
   * @param device its name, whose records come first; those of others of the target follow
   */
  public static Optional<TuningRecord> best(
      KnownRecords database, WorkloadKey network, GpuTarget target, String device) {
    return database
        .best(network, target.name(), device)
        .or(() -> neighbour(database, network, target));
  }

  private static Optional<TuningRecord> neighbour(
      KnownRecords database, WorkloadKey network, GpuTarget target) {
    return database.nearest(network, target.name(), 1).stream()
        .filter(record -> record.workload().distance(network) <= FARTHEST)
        .filter(record -> sameButRows(record.workload(), network))
        .findFirst()
        .map(NetworkRecords::withoutKernels);
  }

  /** For other rows other kernels were measured. */
  private static TuningRecord withoutKernels(TuningRecord record) {
    return Optional.ofNullable(name(record.point()))
        .flatMap(PerLayerWay::of)
        .map(
            way ->
                new TuningRecord(
                    record.workload(),
                    record.environment(),
                    point(way.plain().name()),
                    record.sourceHash(),
                    record.outcome(),
                    record.at()))
        .orElse(record);
  }

  private static boolean sameButRows(WorkloadKey a, WorkloadKey b) {
    return a.parameters().entrySet().stream()
        .allMatch(
            entry ->
                entry.getKey().equals("rows")
                    || entry.getValue().equals(b.parameters().get(entry.getKey())));
  }

  /**
   * Whether a record that comes with Warpwright is taken though the user's database has one: a
   * faster one of the same device, as it will be when the database has taken it over.
   */
  private static boolean isBetter(TuningRecord come, TuningRecord own) {
    return come.environment().device().equals(own.environment().device())
        && come.outcome() instanceof Outcome.Measured faster
        && own.outcome() instanceof Outcome.Measured slower
        && faster.timeUs() < slower.timeUs();
  }

  /**
   * The same of a file and of the records that come with Warpwright: its own before those that are
   * no faster, but those before what it has for other rows.
   *
   * @param file of a database; none is looked into where there is no such file, or no SQLite
   * @return empty if neither knows the network
   * @throws UserError if the file is no such database
   */
  public static Optional<TuningRecord> best(
      Path file, WorkloadKey network, GpuTarget target, String device) {
    KnownRecords shipped = ShippedRecords.records();
    if (!TuningDatabase.isAvailable() || !Files.isRegularFile(file)) {
      return best(shipped, network, target, device);
    }
    try (TuningDatabase database = TuningDatabase.openReadOnly(file)) {
      Optional<TuningRecord> own = database.best(network, target.name(), device);
      Optional<TuningRecord> come = shipped.best(network, target.name(), device);
      return come.filter(record -> own.map(other -> isBetter(record, other)).orElse(true))
          .or(() -> own)
          .or(() -> neighbour(database, network, target))
          .or(() -> neighbour(shipped, network, target));
    }
  }

  /** The name of what the user's database knows, or else those records; null if neither does. */
  public static @Nullable String best(WorkloadKey network, GpuTarget target, String device) {
    try {
      return best(TuningLocation.database(), network, target, device)
          .map(TuningRecord::point)
          .map(NetworkRecords::name)
          .orElse(null);
    } catch (UserError e) {
      // Records make a network fast, not right: a broken file must not stop it, nor no home.
      return null;
    }
  }
}
