package dev.warpwright.cli.tuning;

import dev.warpwright.cli.kernels.CutlassCsv;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Measures the best known kernels of products beside their baselines.
 *
 * @param untuned whether records are ignored
 * @param quick whether a few kernels of what has no record are timed first
 * @param cutlass measurements of the CUTLASS profiler to set beside; null for none
 * @param beside files of Kernel text with other kernels to be timed in the same run
 */
record PerfRequest(
    List<Products> tasks,
    Path database,
    int rounds,
    boolean untuned,
    boolean quick,
    @Nullable CutlassCsv cutlass,
    List<Path> beside) {
  PerfRequest {
    beside = List.copyOf(beside);
    tasks = List.copyOf(tasks);
  }
}
