package dev.warpwright.cli.networks;

import java.nio.file.Path;
import java.util.List;

/**
 * Searches for the fastest ways to compute whole networks.
 *
 * @param rounds of bursts of the last measurement, of the fastest beside each other
 */
public record NetworkTuneRequest(List<Search> searches, Path database, int rounds) {
  /**
   * A network.
   *
   * @param trials at most
   * @param seconds after which nothing more is begun
   */
  public record Search(NetworkTask task, int trials, double seconds) {}

  public NetworkTuneRequest {
    searches = List.copyOf(searches);
  }
}
