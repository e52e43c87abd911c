package dev.warpwright.cli.tuning;

import dev.warpwright.measure.tuning.GemmTuning;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the fastest kernels of products.
 *
 * @param folder where the results' files go, a folder for each; null for the data folder
 * @param rounds of the last measurement, beside the baselines
 */
public record TuneRequest(List<Search> searches, Path database, @Nullable Path folder, int rounds) {
  /**
   * One product, or several that share the trials.
   *
   * @param options whose limits are those of all products together
   */
  public record Search(Products products, GemmTuning.Options options) {}

  public TuneRequest {
    searches = List.copyOf(searches);
  }
}
