package dev.warpwright.space.record;

import dev.warpwright.space.Point;
import dev.warpwright.workload.WorkloadKey;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The table of records in a connection: its columns, what makes a row of a record and a record of a
 * row.
 */
final class RecordTable {
  static final String SCHEMA =
      """
      CREATE TABLE IF NOT EXISTS record (
        id INTEGER PRIMARY KEY,
        workload TEXT NOT NULL,
        target TEXT NOT NULL,
        device TEXT NOT NULL,
        driver TEXT NOT NULL,
        toolkit TEXT NOT NULL,
        generator TEXT NOT NULL,
        point TEXT NOT NULL,
        source TEXT NOT NULL,
        outcome TEXT NOT NULL,
        message TEXT,
        time_us REAL,
        spread REAL,
        error REAL,
        clock_mhz INTEGER,
        temperature INTEGER,
        at TEXT NOT NULL,
        UNIQUE (workload, target, device, driver, toolkit, generator, point, outcome, at)
      )\
      """;

  static final String COLUMNS =
      "workload, target, device, driver, toolkit, generator, point, source, outcome, message,"
          + " time_us, spread, error, clock_mhz, temperature, at";

  static final String OK = "ok";

  /**
   * The records without those of points that were measured again later on a device of that name,
   * with whatever driver and compiler: what a kernel was before they changed, it is no more.
   */
  static final String LATEST =
      "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY workload, target, device, point"
          + " ORDER BY at DESC, id DESC) AS age FROM record)"
          + " WHERE age = 1)";

  /** The successful ones of those, numbered from the fastest of each workload and device. */
  static final String PLACED =
      "(SELECT *, ROW_NUMBER() OVER (PARTITION BY workload, target, device ORDER BY time_us, id)"
          + " AS place FROM "
          + LATEST
          + " WHERE outcome = 'ok')";

  private final Connection connection;

  RecordTable(Connection connection) {
    this.connection = connection;
  }

  /** Adds a record unless it is there already; whether it was not. */
  boolean insert(TuningRecord r) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "INSERT OR IGNORE INTO record ("
                + COLUMNS
                + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")) {
      Environment e = r.environment();
      String[] texts = {
        r.workload().text(),
        e.target(),
        e.device(),
        e.driver(),
        e.toolkit(),
        e.generator(),
        r.point().text(),
        r.sourceHash()
      };
      for (int i = 0; i < texts.length; i++) {
        statement.setString(i + 1, texts[i]);
      }
      switch (r.outcome()) {
        case Outcome.Measured m -> {
          statement.setString(9, OK);
          statement.setString(10, null);
          statement.setDouble(11, m.timeUs());
          statement.setDouble(12, m.spread());
          statement.setDouble(13, m.relError());
          statement.setInt(14, m.clockMhz());
          statement.setInt(15, m.temperature());
        }
        case Outcome.Failed f -> {
          statement.setString(9, f.reason().text());
          statement.setString(10, f.message());
        }
      }
      statement.setString(16, r.at().toString());
      return statement.executeUpdate() > 0;
    }
  }

  /**
   * The records that a condition holds for.
   *
   * @param from the table, {@link #LATEST} or {@link #PLACED}
   */
  List<TuningRecord> query(String from, String where, String... arguments) throws SQLException {
    List<TuningRecord> records = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT " + COLUMNS + " FROM " + from + " WHERE " + where)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setString(i + 1, arguments[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          records.add(record(row));
        }
      }
    }
    return records;
  }

  /** The record of a row that has the columns in their order. */
  static TuningRecord record(ResultSet row) throws SQLException {
    String outcome = text(row, 9);
    return new TuningRecord(
        WorkloadKey.parse(text(row, 1)),
        new Environment(text(row, 2), text(row, 3), text(row, 4), text(row, 5), text(row, 6)),
        Point.parse(text(row, 7)),
        text(row, 8),
        outcome.equals(OK)
            ? new Outcome.Measured(
                row.getDouble(11),
                row.getDouble(12),
                row.getDouble(13),
                row.getInt(14),
                row.getInt(15))
            : new Outcome.Failed(FailureReason.parse(outcome), text(row, 10)),
        Instant.parse(text(row, 16)));
  }

  private static String text(ResultSet row, int column) throws SQLException {
    String text = row.getString(column);
    if (text == null) {
      throw new IllegalArgumentException(COLUMNS.split(", ")[column - 1] + " is missing");
    }
    return text;
  }
}
