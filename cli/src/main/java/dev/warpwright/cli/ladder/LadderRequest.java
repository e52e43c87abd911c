package dev.warpwright.cli.ladder;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to climb.
 *
 * @param rungs names of rungs; empty for all
 * @param device name of a device whose times are to be predicted; null for the GPU here, or the
 *     H200 if there is none
 * @param chart the SVG file; null for none
 * @param task what to do with each rung
 */
record LadderRequest(
    long m,
    long n,
    long k,
    List<String> rungs,
    @Nullable String device,
    @Nullable Path chart,
    long seed,
    int rounds,
    Task task) {
  /** What is done with a rung. */
  enum Task {
    MEASURE,
    /** Measure, and let Nsight Compute count. */
    PROFILE,
    /** Launch once, under a profiler. */
    LAUNCH,
    PREDICT,
    /** Run in the simulator, which counts. */
    SIMULATE
  }

  LadderRequest {
    rungs = List.copyOf(rungs);
  }
}
