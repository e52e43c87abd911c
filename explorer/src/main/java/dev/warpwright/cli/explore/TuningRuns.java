package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/**
 * Tuning runs as the page shows them. Where there is no database, those that come with Warpwright
 * are shown, and none is made.
 */
record TuningRuns(Path database) {
  private static final int MOST_RECORDS = 5000;
  private static final String WHOLE_RUNS = "runs.jsonl.gz";

  /** What there is, by workload and device. */
  Json summaries() {
    Json.Members json = Json.object().with("database", database.toString()).with("shipped", !own());
    return json.with(
        "runs",
        Json.array(
            own() ? read(TuningDatabase::summaries) : Shipped.SUMMARIES,
            run ->
                Json.object()
                    .with("workload", run.workload())
                    .with("target", run.target())
                    .with("device", run.device())
                    .with("trials", run.trials())
                    .with("failures", run.failures())
                    .with("bestUs", run.bestUs())));
  }

  /**
   * The candidates that were tried for a workload on a device, oldest first, at most 5000.
   *
   * @throws UserError if there are none
   */
  Json run(String workload, String device) {
    List<TuningRecord> records =
        (own() ? read(TuningDatabase::all) : Shipped.ALL)
            .stream()
                .filter(record -> record.workload().text().equals(workload))
                .filter(record -> record.environment().device().equals(device))
                .limit(MOST_RECORDS)
                .toList();
    if (records.isEmpty()) {
      throw new UserError("there is no such tuning run any more");
    }
    return Json.object()
        .with("workload", workload)
        .with("device", device)
        .with("trials", Json.array(records, TuningRuns::trial));
  }

  private boolean own() {
    return Files.isRegularFile(database);
  }

  private <T> T read(Function<TuningDatabase, T> question) {
    try (TuningDatabase open = TuningDatabase.openReadOnly(database)) {
      return question.apply(open);
    }
  }

  /** What comes along; read when it is first asked for. */
  private static final class Shipped {
    static final List<TuningRecord> ALL;
    static final List<TuningDatabase.Summary> SUMMARIES;

    static {
      try (TuningDatabase open = TuningDatabase.inMemory()) {
        addWholeRuns(open);
        ShippedRecords.addTo(open);
        ALL = open.all();
        SUMMARIES = open.summaries();
      }
    }

    /**
     * Whole runs as they were recorded, failures too: those of four workloads in {@code
     * bench/records}, in the order of their times.
     */
    private static void addWholeRuns(TuningDatabase database) {
      try (InputStream in = TuningRuns.class.getResourceAsStream(WHOLE_RUNS)) {
        if (in == null) {
          throw new IllegalStateException(WHOLE_RUNS + " is not in the jar");
        }
        var unused =
            database.importLines(
                new BufferedReader(
                    new InputStreamReader(new GZIPInputStream(in), StandardCharsets.UTF_8)),
                WHOLE_RUNS);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static Json trial(TuningRecord record) {
    Json.Members json =
        Json.object()
            .with("point", record.point().text())
            .with("sourceHash", record.sourceHash())
            .with("at", record.at().toString());
    return switch (record.outcome()) {
      case Outcome.Measured measured ->
          json.with("timeUs", measured.timeUs()).with("relError", measured.relError());
      case Outcome.Failed failed ->
          json.with("failure", failed.reason().name().toLowerCase(java.util.Locale.ROOT));
    };
  }
}
