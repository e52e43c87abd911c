package dev.warpwright.cli.accept;

import java.nio.file.Path;
import java.util.List;

/**
 * Measures figures and compares them with what is wanted.
 *
 * @param seed by which figures have drawn products
 * @param seconds after which nothing more is begun
 */
public record AcceptRequest(
    List<AcceptanceFigure> figures, long seed, Path database, double seconds) {
  public AcceptRequest {
    figures = List.copyOf(figures);
  }
}
