package dev.warpwright.cli.tuning;

import dev.warpwright.compiler.tune.GemmTuning;
import dev.warpwright.families.GemmWorkload;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Searches for the fastest kernels of products.
 *
 * @param folder where the results' files go, a folder for each; null for the data folder
 * @param rounds of the last measurement, beside the peers
 */
record TuneRequest(List<Search> searches, Path database, @Nullable Path folder, int rounds) {
  /** One product. */
  record Search(GemmWorkload workload, GemmTuning.Options options) {}

  TuneRequest {
    searches = List.copyOf(searches);
  }
}
