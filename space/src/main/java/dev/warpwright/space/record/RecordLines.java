package dev.warpwright.space.record;

import dev.warpwright.base.UserError;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Records as JSON lines, out of the table and into it. */
final class RecordLines {
  private static final int MAX_LINE = 1 << 16;

  /** Lines that {@link #addOnce} has added, by their hash: what is forgotten stays forgotten. */
  static final String IMPORTED =
      "CREATE TABLE IF NOT EXISTS imported (hash TEXT PRIMARY KEY) WITHOUT ROWID";

  /** The columns of a JSON line. */
  private static final String PARSE =
      "SELECT "
          + Stream.of(RecordTable.COLUMNS.split(", "))
              .map(column -> "json_extract(?1, '$." + column + "')")
              .collect(Collectors.joining(", "))
          + ", json_type(?1)";

  private final Connection connection;
  private final RecordTable table;

  RecordLines(Connection connection, RecordTable table) {
    this.connection = connection;
    this.table = table;
  }

  /** The lines of a table's rows, oldest first. */
  List<String> of(String from) throws SQLException {
    List<String> json = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT json_object(" + jsonPairs() + ") FROM " + from + " ORDER BY id")) {
      while (row.next()) {
        json.add(row.getString(1));
      }
    }
    return json;
  }

  private static String jsonPairs() {
    List<String> pairs = new ArrayList<>();
    for (String column : RecordTable.COLUMNS.split(", ")) {
      pairs.add("'" + column + "', " + column);
    }
    return String.join(", ", pairs);
  }

  /**
   * Adds the records of lines, all or none.
   *
   * @param name of the source, for messages
   * @return how many were new
   * @throws UserError that names the first line that is no record
   */
  long add(BufferedReader in, String name) throws SQLException, IOException {
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
          added += table.insert(record) ? 1 : 0;
        }
      }
      connection.commit();
      return added;
    } finally {
      // After a commit there is nothing to roll back.
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  /** {@link #add}, but of each line only the first time that it comes. */
  long addOnce(String text, String name) throws SQLException {
    String whole = hash(text);
    if (isImported(whole)) {
      return 0;
    }
    List<String> fresh = new ArrayList<>();
    for (String line : text.lines().toList()) {
      if (!isImported(hash(line))) {
        fresh.add(line);
      }
    }
    long added;
    try {
      added = add(new BufferedReader(new StringReader(String.join("\n", fresh))), name);
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
        return RecordTable.record(row);
      }
    } catch (SQLException | RuntimeException e) {
      throw new UserError(where + "no tuning record (" + SqliteFile.oneLine(e) + ")");
    }
  }
}
