package dev.warpwright.cli.tuning;

import dev.warpwright.families.GemmWorkload;
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
    List<GemmWorkload> workloads,
    Path database,
    int rounds,
    boolean untuned,
    @Nullable CutlassCsv cutlass) {
  PerfRequest {
    workloads = List.copyOf(workloads);
  }
}
