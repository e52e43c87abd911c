package dev.warpwright.cli.tuning;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.space.record.TuningDatabase;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/** Opens the tuning database; a new one begins with the records that come with Warpwright. */
public final class TuningStore {
  private TuningStore() {}

  /** A database that is being opened in another thread. */
  static final class Opening implements Supplier<TuningDatabase>, AutoCloseable {
    private final CompletableFuture<TuningDatabase> opened;

    private Opening(CompletableFuture<TuningDatabase> opened) {
      this.opened = opened;
    }

    /**
     * Waits for it.
     *
     * @throws UserError if it cannot be opened
     */
    @Override
    public TuningDatabase get() {
      try {
        return opened.join();
      } catch (CompletionException e) {
        throw e.getCause() instanceof RuntimeException cause ? cause : e;
      }
    }

    /** Closes it, if it could be opened. */
    @Override
    public void close() {
      opened
          .handle(
              (database, failure) -> {
                if (database != null) {
                  database.close();
                }
                return true;
              })
          .join();
    }
  }

  /** Begins to open it; with the records that come along that takes as long as to plan a search. */
  static Opening opening(Path file, Progress progress) {
    return new Opening(CompletableFuture.supplyAsync(() -> open(file, progress)));
  }

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
