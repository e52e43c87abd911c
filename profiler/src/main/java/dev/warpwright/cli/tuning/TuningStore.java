package dev.warpwright.cli.tuning;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.space.record.TuningDatabase;
import java.nio.file.Path;

/** Opens the tuning database; a new one begins with the records that come with Warpwright. */
public final class TuningStore {
  private TuningStore() {}

  public static TuningDatabase open(Path file, Progress progress) {
    TuningDatabase database = TuningDatabase.open(file);
    try {
      long added = ShippedRecords.addTo(database);
      if (added > 0) {
        progress.say(added + " records that come with Warpwright added to " + file);
      }
      return database;
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }
}
