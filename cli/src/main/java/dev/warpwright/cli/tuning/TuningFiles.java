package dev.warpwright.cli.tuning;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where tuning keeps what it finds. */
public final class TuningFiles {
  private TuningFiles() {}

  /**
   * The database: {@code --db}, else {@code WARPWRIGHT_DB}, else {@code warpwright/tuning.db} in
   * the user's data folder.
   */
  public static Path database(@Nullable Path given) {
    String variable = System.getenv("WARPWRIGHT_DB");
    if (given != null) {
      return given;
    }
    return variable == null || variable.isBlank()
        ? dataFolder().resolve("tuning.db")
        : Path.of(variable);
  }

  /** By the XDG base directory specification. */
  static Path dataFolder() {
    String xdg = System.getenv("XDG_DATA_HOME");
    Path data =
        xdg == null || xdg.isBlank() || !Path.of(xdg).isAbsolute()
            ? Path.of(System.getProperty("user.home"), ".local", "share")
            : Path.of(xdg);
    return data.resolve("warpwright");
  }
}
