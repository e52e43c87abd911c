package dev.warpwright.families.tuned;

import dev.warpwright.base.files.UserFolders;
import java.nio.file.Path;

/** Where tuning keeps what it finds: see {@link UserFolders}, which decides. */
public final class TuningLocation {
  private TuningLocation() {}

  /**
   * The database: {@code WARPWRIGHT_DB}, else {@code warpwright/tuning.db} in the user's data
   * folder.
   *
   * @throws dev.warpwright.base.UserError if the user has no home folder
   */
  public static Path database() {
    return UserFolders.system().database();
  }

  /** The user's data folder. */
  public static Path dataFolder() {
    return UserFolders.system().data();
  }

  /** Where what runs in the background keeps its state. */
  public static Path stateFolder() {
    return UserFolders.system().state();
  }
}
