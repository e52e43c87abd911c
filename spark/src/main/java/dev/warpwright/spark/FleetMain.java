package dev.warpwright.spark;

import dev.warpwright.cli.Main;
import java.util.ArrayList;
import java.util.List;

/**
 * Main class for {@code spark-submit}: its arguments are those of {@code warpwright tune}, on the
 * cluster that spark-submit names.
 */
public final class FleetMain {
  private FleetMain() {}

  public static void main(String[] args) {
    List<String> line = new ArrayList<>(List.of("tune"));
    line.addAll(List.of(args));
    if (!line.contains("--on")) {
      line.addAll(List.of("--on", "submit"));
    }
    Main.main(line.toArray(String[]::new));
  }
}
