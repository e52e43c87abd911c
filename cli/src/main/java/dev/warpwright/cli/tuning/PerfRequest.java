package dev.warpwright.cli.tuning;

import dev.warpwright.families.GemmWorkload;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures the best known kernels of products beside their peers.
 *
 * @param untuned whether records are ignored
 */
record PerfRequest(List<GemmWorkload> workloads, Path database, int rounds, boolean untuned) {
  PerfRequest {
    workloads = List.copyOf(workloads);
  }
}
