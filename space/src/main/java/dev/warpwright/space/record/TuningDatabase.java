package dev.warpwright.space.record;

import dev.warpwright.base.UserError;
import dev.warpwright.workload.WorkloadKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All that was measured, in one SQLite file. Each record is committed by itself, so that a killed
 * process loses nothing that it was told of; several processes may read and write at once. Methods
 * may be called from any thread.
 *
 * <p>Every method throws {@link UserError} with one line if the file cannot be read or written.
 */
public final class TuningDatabase implements KnownRecords {
  private static final int VERSION = 1;

  private final Path file;
  private final Connection connection;
  private final RecordTable table;
  private final RecordLines lines;

  /** {@return whether SQLite is there: applications need not bring it} */
  public static boolean isAvailable() {
    try {
      Class.forName("org.sqlite.SQLiteJDBCLoader", false, TuningDatabase.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private TuningDatabase(Path file, Connection connection) {
    this.file = file;
    this.connection = connection;
    this.table = new RecordTable(connection);
    this.lines = new RecordLines(connection, table);
  }

  /**
   * Opens a database, and makes the file and its folder if they are not there.
   *
   * @param file of SQLite
   * @return the database, to be closed
   * @throws UserError if the file is another program's; it is as it was then
   */
  public static TuningDatabase open(Path file) {
    Connection connection = null;
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      SqliteFile.requireOurs(file, List.of(RecordTable.COLUMNS.split(", ")));
      connection = SqliteFile.open(file);
      TuningDatabase database = new TuningDatabase(file, connection);
      database.prepare();
      return database;
    } catch (SQLException | IOException e) {
      closeQuietly(connection);
      throw notOpened(file, e);
    } catch (UserError e) {
      closeQuietly(connection);
      throw e;
    }
  }

  /**
   * Opens a database to read from: neither the file nor its folder changes.
   *
   * @param file of SQLite
   * @return the database, to be closed
   * @throws UserError if there is no such file, or it is another program's
   */
  public static TuningDatabase openReadOnly(Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        throw new UserError(file + ": no such file");
      }
      SqliteFile.requireOurs(file, List.of(RecordTable.COLUMNS.split(", ")));
      return new TuningDatabase(file, SqliteFile.openReadOnly(file));
    } catch (SQLException | IOException e) {
      throw notOpened(file, e);
    }
  }

  private static UserError notOpened(Path file, Exception e) {
    return new UserError(
        "tuning database "
            + file
            + " cannot be opened ("
            + SqliteFile.oneLine(e)
            + "); give another file with --db");
  }

  /** {@return an empty database that is gone when it is closed} */
  public static TuningDatabase inMemory() {
    try {
      TuningDatabase database = new TuningDatabase(Path.of("memory"), SqliteFile.openMemory());
      database.prepare();
      return database;
    } catch (SQLException e) {
      throw new UserError(
          "a tuning database in memory cannot be made (" + SqliteFile.oneLine(e) + ")");
    }
  }

  private static void closeQuietly(@Nullable Connection connection) {
    if (connection != null) {
      try {
        connection.close();
      } catch (SQLException ignored) {
        // What could not be opened need not be closed.
      }
    }
  }

  private void prepare() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      // Another process may be writing: wait for it rather than fail.
      statement.execute("PRAGMA busy_timeout = 20000");
      // Before the log is on, so that the mark is in the file itself from the first moment.
      mark(statement);
      statement.execute("PRAGMA journal_mode = WAL");
      statement.execute("PRAGMA synchronous = NORMAL");
      int version;
      try (ResultSet result = statement.executeQuery("PRAGMA user_version")) {
        version = result.next() ? result.getInt(1) : 0;
      }
      if (version > VERSION) {
        throw new UserError(
            "tuning database "
                + file
                + " was written by a later Warpwright (version "
                + version
                + ", this one knows "
                + VERSION
                + "); give another file with --db");
      }
      statement.execute(RecordTable.SCHEMA);
      statement.execute(RecordLines.IMPORTED);
      statement.execute("CREATE INDEX IF NOT EXISTS by_workload ON record (workload, target)");
      if (version < VERSION) {
        statement.execute("PRAGMA user_version = " + VERSION);
      }
    }
  }

  private static void mark(Statement statement) throws SQLException {
    int application;
    try (ResultSet result = statement.executeQuery("PRAGMA application_id")) {
      application = result.next() ? result.getInt(1) : 0;
    }
    if (application != SqliteFile.APPLICATION) {
      statement.execute("PRAGMA application_id = " + SqliteFile.APPLICATION);
    }
  }

  /** {@return the file; {@code memory} of one that has none} */
  public Path file() {
    return file;
  }

  /**
   * Adds a record; returns when it cannot be lost any more by the end of this process.
   *
   * @param record of any workload
   */
  public synchronized void add(TuningRecord record) {
    run("written to", () -> table.insert(record));
  }

  /**
   * {@return what was tried for a workload in an environment, oldest first}
   *
   * @param workload exactly this one
   * @param environment exactly this one
   */
  public synchronized List<TuningRecord> records(WorkloadKey workload, Environment environment) {
    return query(
        "workload = ? AND target = ? AND device = ? AND driver = ? AND toolkit = ? AND generator ="
            + " ? ORDER BY id",
        workload.text(),
        environment.target(),
        environment.device(),
        environment.driver(),
        environment.toolkit(),
        environment.generator());
  }

  @Override
  public synchronized List<TuningRecord> tried(WorkloadKey workload, String target) {
    return query("workload = ? AND target = ? ORDER BY id", workload.text(), target);
  }

  @Override
  public synchronized Optional<TuningRecord> best(
      WorkloadKey workload, String target, String device) {
    return queryLatest(
            "workload = ? AND target = ? AND outcome = 'ok'"
                + " ORDER BY device <> ?, time_us LIMIT 1",
            workload.text(),
            target,
            device)
        .stream()
        .findFirst();
  }

  @Override
  public synchronized List<TuningRecord> nearest(WorkloadKey workload, String target, int count) {
    List<TuningRecord> best =
        query(
            "id IN (SELECT id FROM (SELECT id, MIN(time_us) FROM "
                + RecordTable.LATEST
                + " WHERE target = ? AND outcome = 'ok' AND (workload = ? OR workload LIKE ?)"
                + " GROUP BY workload))",
            target,
            workload.kind(),
            workload.kind() + " %");
    return best.stream()
        .filter(r -> Double.isFinite(r.workload().distance(workload)))
        .sorted(Comparator.comparingDouble(r -> r.workload().distance(workload)))
        .limit(count)
        .toList();
  }

  /**
   * {@return the fastest few of each workload on a target and device, by workload}
   *
   * @param target as {@code sm_90a}
   * @param count of each workload, at least 1
   */
  public synchronized List<TuningRecord> fastest(String target, int count) {
    return query(
        RecordTable.PLACED,
        "target = ? AND place <= CAST(? AS INTEGER) ORDER BY workload, device, place",
        new String[] {target, Integer.toString(count)});
  }

  /** {@return all records, oldest first} */
  public synchronized List<TuningRecord> all() {
    return query("1 = 1 ORDER BY id");
  }

  /**
   * A workload on a device, how many trials it has and how fast the best one is.
   *
   * @param workload in text
   * @param target as {@code sm_90a}
   * @param device as its driver calls it
   * @param trials candidates that were tried
   * @param failures candidates that have no time
   * @param bestUs microseconds of the fastest; NaN if all failed
   */
  public record Summary(
      String workload, String target, String device, long trials, long failures, double bestUs) {}

  /** {@return what there is, by workload and device} */
  public synchronized List<Summary> summaries() {
    return run(
        "read",
        () -> {
          List<Summary> summaries = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet row =
                  statement.executeQuery(
                      "SELECT workload, target, device, COUNT(*), SUM(outcome <> 'ok'),"
                          + " MIN(time_us) FROM "
                          + RecordTable.LATEST
                          + " GROUP BY workload, target, device"
                          + " ORDER BY workload, target, device")) {
            while (row.next()) {
              double best = row.getDouble(6);
              summaries.add(
                  new Summary(
                      row.getString(1),
                      row.getString(2),
                      row.getString(3),
                      row.getLong(4),
                      row.getLong(5),
                      row.wasNull() ? Double.NaN : best));
            }
          }
          return summaries;
        });
  }

  /**
   * Keeps the fastest records of each workload and environment, and forgets the rest.
   *
   * @param keep of each workload and environment
   * @return how many were forgotten
   */
  public synchronized long prune(int keep) {
    return run(
        "written to",
        () -> {
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "DELETE FROM record WHERE id NOT IN (SELECT id FROM (SELECT id, ROW_NUMBER() OVER"
                      + " (PARTITION BY workload, target, device, driver, toolkit, generator"
                      + " ORDER BY time_us) AS place FROM "
                      + RecordTable.LATEST
                      + " WHERE outcome = 'ok')"
                      + " WHERE place <= ?)")) {
            statement.setInt(1, keep);
            return (long) statement.executeUpdate();
          }
        });
  }

  /**
   * Writes all records as JSON lines, oldest first.
   *
   * @param out is written to and left open
   * @return how many
   * @throws IOException if it cannot be written to
   */
  public synchronized long export(Writer out) throws IOException {
    return write(out, "record");
  }

  /**
   * The same of the fastest few of each workload and device.
   *
   * @param out is written to and left open
   * @param count of each workload and device
   * @return how many
   * @throws IOException if it cannot be written to
   */
  public synchronized long exportFastest(Writer out, int count) throws IOException {
    return write(out, "(SELECT * FROM " + RecordTable.PLACED + " WHERE place <= " + count + ")");
  }

  private long write(Writer out, String from) throws IOException {
    List<String> json = run("read", () -> lines.of(from));
    for (String line : json) {
      out.write(line);
      out.write('\n');
    }
    return json.size();
  }

  /**
   * Adds the records of JSON lines; those that are there already stay as they are.
   *
   * @param in is read to its end and left open
   * @param name of the source, for messages
   * @return how many were new
   * @throws UserError that names the first line that is no record; nothing is added then
   * @throws IOException if it cannot be read
   */
  public synchronized long importLines(BufferedReader in, String name) throws IOException {
    try {
      return lines.add(in, name);
    } catch (SQLException e) {
      throw failure("written to", e);
    }
  }

  /**
   * {@link #importLines}, but of each line only the first time that it comes: a record that was
   * pruned since does not return.
   *
   * @param text all lines
   * @param name of the source, for messages
   * @return how many were new
   */
  public synchronized long importOnce(String text, String name) {
    return run("written to", () -> lines.addOnce(text, name));
  }

  private List<TuningRecord> query(String where, String... arguments) {
    return query("record", where, arguments);
  }

  private List<TuningRecord> queryLatest(String where, String... arguments) {
    return query(RecordTable.LATEST, where, arguments);
  }

  private List<TuningRecord> query(String from, String where, String[] arguments) {
    return run("read", () -> table.query(from, where, arguments));
  }

  private interface Work<T> {
    T run() throws SQLException;
  }

  private <T> T run(String what, Work<T> work) {
    try {
      return work.run();
    } catch (SQLException e) {
      throw failure(what, e);
    } catch (IllegalArgumentException e) {
      throw new UserError(
          "tuning database " + file + " holds what is no record (" + SqliteFile.oneLine(e) + ")");
    }
  }

  private UserError failure(String what, SQLException e) {
    return new UserError(
        "tuning database " + file + " cannot be " + what + " (" + SqliteFile.oneLine(e) + ")");
  }

  @Override
  public synchronized void close() {
    closeQuietly(connection);
  }
}
