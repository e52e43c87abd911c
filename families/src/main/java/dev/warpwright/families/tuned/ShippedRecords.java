package dev.warpwright.families.tuned;

import dev.warpwright.tune.record.TuningDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

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

  /**
   * The lines of workloads of a kind: to see that there are none, no database is needed.
   *
   * @param kind the first word of their keys
   */
  public static List<String> lines(String kind) {
    return text().lines().filter(line -> line.contains("\"workload\":\"" + kind + " ")).toList();
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
