package dev.warpwright.cli.networks;

import dev.warpwright.parallel.cost.ParallelRequest;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Measures whole networks.
 *
 * @param rounds of bursts
 * @param all whether all alternatives are measured, not the chosen one beside shared chaining
 * @param untuned whether records are ignored
 * @param bursts whether nothing is timed without rest
 * @param record whether what was measured is written to the database, as tuning does
 * @param gpus that share each network; null for one
 */
public record NetworkRequest(
    List<NetworkTask> tasks,
    Path database,
    int rounds,
    boolean all,
    boolean untuned,
    boolean bursts,
    boolean record,
    @Nullable ParallelRequest gpus) {
  /** With times without rest, and nothing is written. */
  public NetworkRequest(
      List<NetworkTask> tasks, Path database, int rounds, boolean all, boolean untuned) {
    this(tasks, database, rounds, all, untuned, false, false, null);
  }

  public NetworkRequest {
    tasks = List.copyOf(tasks);
  }
}
