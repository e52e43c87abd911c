package dev.warpwright.cli.ladder;

import dev.warpwright.ir.type.DType;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to climb.
 *
 * @param dtype f32 or f64; rungs on tensor cores are in bf16 and beside f32 only
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
    DType dtype,
    List<String> rungs,
    @Nullable String device,
    @Nullable Path chart,
    long seed,
    int rounds,
    Task task,
    Files files) {
  /**
   * What is written beside the chart.
   *
   * @param search a picture of the autotuned rung's search, as SVG; null for none
   * @param report what Nsight Compute saw, for its window; of {@link Task#LAUNCH} the folder of the
   *     sources that machine code names; null for none
   */
  record Files(@Nullable Path search, @Nullable Path report) {}

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
