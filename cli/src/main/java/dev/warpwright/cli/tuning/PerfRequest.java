package dev.warpwright.cli.tuning;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Measures the best known kernels of products beside their peers.
 *
 * @param untuned whether records are ignored
 * @param cutlass measurements of the CUTLASS profiler to set beside; null for none
 */
record PerfRequest(
    List<Products> tasks,
    Path database,
    int rounds,
    boolean untuned,
    @Nullable CutlassCsv cutlass) {
  PerfRequest {
    tasks = List.copyOf(tasks);
  }
}
