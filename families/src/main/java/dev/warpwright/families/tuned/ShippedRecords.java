package dev.warpwright.families.tuned;

import dev.warpwright.space.record.RecordList;
import dev.warpwright.space.record.TuningDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The records that come with Warpwright, so that its users start tuned. */
public final class ShippedRecords {
  private static final String RESOURCE = "records.jsonl";

  private ShippedRecords() {}

  /**
   * Adds those that a database has never had: what was pruned does not come back.
   *
   * @return how many
   */
  public static long addTo(TuningDatabase database) {
    return database.importOnce(text(), RESOURCE);
  }

  /** All of them, read once; no database is needed. */
  public static RecordList records() {
    return Holder.RECORDS;
  }

  private static final class Holder {
    static final RecordList RECORDS = RecordList.parse(text(), RESOURCE);
  }

  private static String text() {
    try (InputStream in = ShippedRecords.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException(RESOURCE + " is not in the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
