package dev.warpwright.compiler.tune;

import java.nio.file.Path;

/** Where tuning keeps what it finds. */
public final class TuningLocation {
  private TuningLocation() {}

  /**
   * The database: {@code WARPWRIGHT_DB}, else {@code warpwright/tuning.db} in the user's data
   * folder.
   */
  public static Path database() {
    String variable = System.getenv("WARPWRIGHT_DB");
    return variable == null || variable.isBlank()
        ? dataFolder().resolve("tuning.db")
        : Path.of(variable);
  }

  /** By the XDG base directory specification. */
  public static Path dataFolder() {
    return folder("XDG_DATA_HOME", ".local", "share");
  }

  /** Where what runs in the background keeps its state, by the same specification. */
  public static Path stateFolder() {
    return folder("XDG_STATE_HOME", ".local", "state");
  }

  private static Path folder(String variable, String... otherwise) {
    String xdg = System.getenv(variable);
    Path base =
        xdg == null || xdg.isBlank() || !Path.of(xdg).isAbsolute()
            ? Path.of(System.getProperty("user.home"), otherwise)
            : Path.of(xdg);
    return base.resolve("warpwright");
  }
}
