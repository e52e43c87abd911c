package dev.warpwright.cli.tuning;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A search for the best schedule of a user's own function.
 *
 * @param file its text
 * @param values of its scalars, all of them
 * @param trials schedules to measure or, without a GPU, to predict; at least 1
 * @param seconds after which no more is tried
 * @param folder where the winner's files go; null for nowhere
 */
public record FunctionTuneRequest(
    Path file,
    Map<String, Long> values,
    int trials,
    double seconds,
    long seed,
    @Nullable Path folder) {
  public FunctionTuneRequest {
    values = Map.copyOf(values);
  }
}
