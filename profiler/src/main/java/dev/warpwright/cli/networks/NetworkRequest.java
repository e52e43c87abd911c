package dev.warpwright.cli.networks;

import java.nio.file.Path;
import java.util.List;

/**
 * Measures whole networks.
 *
 * @param rounds of bursts
 * @param all whether all alternatives are measured, not the chosen one beside shared chaining
 * @param untuned whether records are ignored
 * @param sustained whether the fastest are also timed without rest
 */
public record NetworkRequest(
    List<NetworkTask> tasks,
    Path database,
    int rounds,
    boolean all,
    boolean untuned,
    boolean sustained) {
  public NetworkRequest {
    tasks = List.copyOf(tasks);
  }
}
