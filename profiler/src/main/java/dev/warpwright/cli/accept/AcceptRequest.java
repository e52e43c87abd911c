package dev.warpwright.cli.accept;

import java.nio.file.Path;
import java.util.List;

/**
 * Measures figures and compares them with what is wanted.
 *
 * @param seconds after which nothing more is begun
 */
public record AcceptRequest(List<AcceptanceFigure> figures, Path database, double seconds) {
  public AcceptRequest {
    figures = List.copyOf(figures);
  }
}
