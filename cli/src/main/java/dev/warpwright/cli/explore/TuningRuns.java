package dev.warpwright.cli.explore;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Tuning runs as the page shows them. Where there is no database, those that come with Warpwright
 * are shown, and none is made.
 */
record TuningRuns(Path database) {
  private static final int MOST_RECORDS = 5000;

  /** What there is, by workload and device. */
  Json summaries() {
    Json.Members json =
        Json.object()
            .with("database", database.toString())
            .with("shipped", !Files.isRegularFile(database));
    try (TuningDatabase open = open()) {
      return json.with(
          "runs",
          Json.array(
              open.summaries(),
              run ->
                  Json.object()
                      .with("workload", run.workload())
                      .with("target", run.target())
                      .with("device", run.device())
                      .with("trials", run.trials())
                      .with("failures", run.failures())
                      .with("bestUs", run.bestUs())));
    }
  }

  /**
   * The candidates that were tried for a workload on a device, oldest first, at most 5000.
   *
   * @throws UserError if there are none
   */
  Json run(String workload, String device) {
    List<TuningRecord> records;
    try (TuningDatabase open = open()) {
      records =
          open.all().stream()
              .filter(record -> record.workload().text().equals(workload))
              .filter(record -> record.environment().device().equals(device))
              .limit(MOST_RECORDS)
              .toList();
    }
    if (records.isEmpty()) {
      throw new UserError("there is no such tuning run any more");
    }
    return Json.object()
        .with("workload", workload)
        .with("device", device)
        .with("trials", Json.array(records, TuningRuns::trial));
  }

  private TuningDatabase open() {
    if (Files.isRegularFile(database)) {
      return TuningDatabase.openReadOnly(database);
    }
    TuningDatabase shipped = TuningDatabase.inMemory();
    ShippedRecords.addTo(shipped);
    return shipped;
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
