package dev.warpwright.cli.tuning;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Something to do with the tuning database.
 *
 * @param file what is exported to, imported from or merged; null where there is none
 * @param keep how many records of a workload pruning leaves
 */
record DbRequest(Task task, Path database, @Nullable Path file, int keep) {
  /** What to do. */
  enum Task {
    LIST,
    EXPORT,
    IMPORT,
    MERGE,
    PRUNE
  }
}
