package dev.warpwright.cli.tuning;

import dev.warpwright.families.tuned.TuningLocation;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where tuning keeps what it finds. */
public final class TuningFiles {
  private TuningFiles() {}

  /** The database: {@code --db}, else {@link TuningLocation#database}. */
  public static Path database(@Nullable Path given) {
    return given == null ? TuningLocation.database() : given;
  }

  /** The user's data folder. */
  public static Path dataFolder() {
    return TuningLocation.dataFolder();
  }
}
