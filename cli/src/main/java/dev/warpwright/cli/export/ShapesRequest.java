package dev.warpwright.cli.export;

import dev.warpwright.target.GpuTarget;
import java.util.List;

/**
 * Asks for GEMMs of random shapes.
 *
 * @param list whether they are only listed, as tasks for {@code perf --file}
 * @param targets to export each for
 * @param compile whether kernels are compiled
 * @param simulate whether their configurations run in the simulator, at reduced sizes
 * @param jobs so many at a time
 */
public record ShapesRequest(
    long seed,
    int count,
    boolean list,
    List<GpuTarget> targets,
    boolean compile,
    boolean simulate,
    int jobs) {
  public ShapesRequest {
    targets = List.copyOf(targets);
  }
}
