package dev.warpwright.tune.record;

import dev.warpwright.base.UserError;
import dev.warpwright.tune.measure.FailureReason;
import dev.warpwright.tune.measure.Outcome;
import dev.warpwright.tune.space.Point;
import dev.warpwright.workload.WorkloadKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
  private static final int MAX_LINE = 1 << 16;

  private static final String SCHEMA =
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

  /** Lines that {@link #importOnce} has added, by their hash: what is forgotten stays forgotten. */
  private static final String IMPORTED =
      "CREATE TABLE IF NOT EXISTS imported (hash TEXT PRIMARY KEY) WITHOUT ROWID";

  private static final String COLUMNS =
      "workload, target, device, driver, toolkit, generator, point, source, outcome, message,"
          + " time_us, spread, error, clock_mhz, temperature, at";

  private static final String OK = "ok";

  /** The columns of a JSON line. */
  private static final String PARSE =
      "SELECT "
          + Stream.of(COLUMNS.split(", "))
              .map(column -> "json_extract(?1, '$." + column + "')")
              .collect(Collectors.joining(", "))
          + ", json_type(?1)";

  /**
   * The records without those of points that were measured again later on a device of that name,
   * with whatever driver and compiler: what a kernel was before they changed, it is no more.
   */
  private static final String LATEST =
      "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY workload, target, device, point"
          + " ORDER BY at DESC, id DESC) AS age FROM record)"
          + " WHERE age = 1)";

  /** The successful ones of those, numbered from the fastest of each workload and device. */
  private static final String PLACED =
      "(SELECT *, ROW_NUMBER() OVER (PARTITION BY workload, target, device ORDER BY time_us, id)"
          + " AS place FROM "
          + LATEST
          + " WHERE outcome = 'ok')";

  private final Path file;
  private final Connection connection;

  /** Whether SQLite is there: applications need not bring it. */
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
  }

  /**
   * Opens, and makes the file and its folder if they are not there.
   *
   * @throws UserError if the file is another program's; it is as it was then
   */
  public static TuningDatabase open(Path file) {
    Connection connection = null;
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      SqliteFile.requireOurs(file, List.of(COLUMNS.split(", ")));
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
   * Opens to read from: neither the file nor its folder changes.
   *
   * @throws UserError if there is no such file, or it is another program's
   */
  public static TuningDatabase openReadOnly(Path file) {
    try {
      if (!Files.isRegularFile(file)) {
        throw new UserError(file + ": no such file");
      }
      SqliteFile.requireOurs(file, List.of(COLUMNS.split(", ")));
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
            + oneLine(e)
            + "); give another file with --db");
  }

  /** An empty one that is gone when it is closed. */
  public static TuningDatabase inMemory() {
    try {
      TuningDatabase database = new TuningDatabase(Path.of("memory"), SqliteFile.openMemory());
      database.prepare();
      return database;
    } catch (SQLException e) {
      throw new UserError("a tuning database in memory cannot be made (" + oneLine(e) + ")");
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
      statement.execute(SCHEMA);
      statement.execute(IMPORTED);
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

  public Path file() {
    return file;
  }

  /** Adds a record; returns when it cannot be lost any more by the end of this process. */
  public synchronized void add(TuningRecord record) {
    run("written to", () -> insert(record));
  }

  private boolean insert(TuningRecord r) throws SQLException {
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

  /** What was tried for a workload in an environment, oldest first. */
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
                + LATEST
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

  /** The fastest few of each workload on a target and device, by workload. */
  public synchronized List<TuningRecord> fastest(String target, int count) {
    return query(
        PLACED,
        "target = ? AND place <= CAST(? AS INTEGER) ORDER BY workload, device, place",
        new String[] {target, Integer.toString(count)});
  }

  /** All records, oldest first. */
  public synchronized List<TuningRecord> all() {
    return query("1 = 1 ORDER BY id");
  }

  /** A workload on a device, how many trials it has and how fast the best one is. */
  public record Summary(
      String workload, String target, String device, long trials, long failures, double bestUs) {}

  /** What there is, by workload and device. {@code bestUs} is NaN where nothing succeeded. */
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
                          + LATEST
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
                      + LATEST
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
   * @return how many
   */
  public synchronized long export(Writer out) throws IOException {
    return write(out, "record");
  }

  /**
   * The same of the fastest few of each workload and device.
   *
   * @return how many
   */
  public synchronized long exportFastest(Writer out, int count) throws IOException {
    return write(out, "(SELECT * FROM " + PLACED + " WHERE place <= " + count + ")");
  }

  private long write(Writer out, String from) throws IOException {
    List<String> lines =
        run(
            "read",
            () -> {
              List<String> json = new ArrayList<>();
              try (Statement statement = connection.createStatement();
                  ResultSet row =
                      statement.executeQuery(
                          "SELECT json_object("
                              + jsonPairs()
                              + ") FROM "
                              + from
                              + " ORDER BY id")) {
                while (row.next()) {
                  json.add(row.getString(1));
                }
              }
              return json;
            });
    for (String line : lines) {
      out.write(line);
      out.write('\n');
    }
    return lines.size();
  }

  private static String jsonPairs() {
    List<String> pairs = new ArrayList<>();
    for (String column : COLUMNS.split(", ")) {
      pairs.add("'" + column + "', " + column);
    }
    return String.join(", ", pairs);
  }

  /**
   * Adds the records of JSON lines; those that are there already stay as they are.
   *
   * @param name of the source, for messages
   * @return how many were new
   * @throws UserError that names the first line that is no record; nothing is added then
   */
  public synchronized long importLines(BufferedReader in, String name) throws IOException {
    try {
      connection.setAutoCommit(false);
      try (PreparedStatement parser = connection.prepareStatement(PARSE)) {
        long added = 0;
        int number = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
          number++;
          if (!line.isBlank()) {
            TuningRecord record = parse(parser, line, name, number);
            Optional<String> problem = Plausibility.problem(record);
            if (problem.isPresent()) {
              throw new UserError(
                  name + ", line " + number + ": nothing that was measured: " + problem.get());
            }
            added += insert(record) ? 1 : 0;
          }
        }
        connection.commit();
        return added;
      } finally {
        // After a commit there is nothing to roll back.
        connection.rollback();
        connection.setAutoCommit(true);
      }
    } catch (SQLException e) {
      throw failure("written to", e);
    }
  }

  /**
   * {@link #importLines}, but of each line only the first time that it comes: a record that was
   * pruned since does not return.
   *
   * @param text all lines
   */
  public synchronized long importOnce(String text, String name) {
    return run(
        "written to",
        () -> {
          String whole = hash(text);
          if (isImported(whole)) {
            return 0L;
          }
          List<String> fresh = new ArrayList<>();
          for (String line : text.lines().toList()) {
            if (!isImported(hash(line))) {
              fresh.add(line);
            }
          }
          long added;
          try {
            added =
                importLines(new BufferedReader(new StringReader(String.join("\n", fresh))), name);
          } catch (IOException e) {
            throw new IllegalStateException("a text in memory can be read", e);
          }
          fresh.add(text);
          try (PreparedStatement statement =
              connection.prepareStatement("INSERT OR IGNORE INTO imported VALUES (?)")) {
            connection.setAutoCommit(false);
            for (String line : fresh) {
              statement.setString(1, hash(line));
              statement.executeUpdate();
            }
            connection.commit();
          } finally {
            connection.rollback();
            connection.setAutoCommit(true);
          }
          return added;
        });
  }

  private boolean isImported(String hash) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT 1 FROM imported WHERE hash = ?")) {
      statement.setString(1, hash);
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  private static String hash(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static TuningRecord parse(
      PreparedStatement parser, String line, String name, int number) {
    String where = name + ", line " + number + ": ";
    if (line.length() > MAX_LINE) {
      throw new UserError(where + "longer than " + MAX_LINE + " characters, which no record is");
    }
    try {
      parser.setString(1, line);
      try (ResultSet row = parser.executeQuery()) {
        row.next();
        return record(row);
      }
    } catch (SQLException | RuntimeException e) {
      throw new UserError(where + "no tuning record (" + oneLine(e) + ")");
    }
  }

  private List<TuningRecord> query(String where, String... arguments) {
    return query("record", where, arguments);
  }

  private List<TuningRecord> queryLatest(String where, String... arguments) {
    return query(LATEST, where, arguments);
  }

  private List<TuningRecord> query(String from, String where, String[] arguments) {
    return run(
        "read",
        () -> {
          List<TuningRecord> records = new ArrayList<>();
          try (PreparedStatement statement =
              connection.prepareStatement(
                  "SELECT " + COLUMNS + " FROM " + from + " WHERE " + where)) {
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
        });
  }

  private static TuningRecord record(ResultSet row) throws SQLException {
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
          "tuning database " + file + " holds what is no record (" + oneLine(e) + ")");
    }
  }

  private UserError failure(String what, SQLException e) {
    return new UserError(
        "tuning database " + file + " cannot be " + what + " (" + oneLine(e) + ")");
  }

  private static String oneLine(Exception e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.lines().findFirst().orElse("");
  }

  @Override
  public synchronized void close() {
    closeQuietly(connection);
  }
}
