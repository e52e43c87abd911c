package dev.warpwright.cli.tuning;

import dev.warpwright.target.DeviceModel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Something to do with the tuning database.
 *
 * @param file what is exported to, imported from or merged; null where there is none
 * @param keep how many records of a workload pruning leaves, and a refresh looks at
 * @param best how many of a workload are exported; 0 for all
 * @param seconds after which a refresh begins nothing more
 * @param model of which family, to fit
 * @param device whose measurements it is fitted to
 */
record DbRequest(
    Task task,
    Path database,
    @Nullable Path file,
    int keep,
    int best,
    double seconds,
    String model,
    DeviceModel device) {
  /** What to do. */
  enum Task {
    LIST,
    EXPORT,
    IMPORT,
    MERGE,
    PRUNE,
    STALE,
    REFRESH,
    FIT
  }
}
