package dev.warpwright.cli.export;

import dev.warpwright.target.GpuTarget;
import java.util.List;

/**
 * Asks for GEMMs of random shapes.
 *
 * @param list whether they are only listed, as tasks for {@code perf --file}
 * @param targets to export and compile each for
 * @param jobs so many at a time
 */
public record ShapesRequest(long seed, int count, boolean list, List<GpuTarget> targets, int jobs) {
  public ShapesRequest {
    targets = List.copyOf(targets);
  }
}
