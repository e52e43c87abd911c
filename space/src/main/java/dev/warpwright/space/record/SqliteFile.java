package dev.warpwright.space.record;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Opens SQLite files, and tells a tuning database from somebody else's: many programs keep SQLite
 * files, and a table of ours has no place in theirs.
 */
final class SqliteFile {
  /** {@code WARP} in the header of our files, see SQLite's {@code application_id}. */
  static final int APPLICATION = 0x57415250;

  private static final byte[] MAGIC = "SQLite format 3\0".getBytes(StandardCharsets.US_ASCII);
  private static final int HEADER_BYTES = 100;
  private static final int APPLICATION_AT = 68;

  private SqliteFile() {}

  /** Opens for reading and writing; makes the file if it is not there. */
  static Connection open(Path file) throws SQLException {
    return connect(url(file));
  }

  /** Opens for reading: neither the file nor anything beside it changes. */
  static Connection openReadOnly(Path file) throws SQLException {
    Path log = file.toAbsolutePath().resolveSibling(file.getFileName() + "-wal");
    boolean logged;
    try {
      logged = Files.exists(log) && Files.size(log) > 0;
    } catch (IOException e) {
      logged = true;
    }
    // Where no writer is at work, and none was killed, the file is all there is. Without immutable
    // SQLite would make files beside it, to be told of writers.
    return connect(url(file) + (logged ? "?mode=ro" : "?mode=ro&immutable=1"));
  }

  static Connection openMemory() throws SQLException {
    return connect("jdbc:sqlite::memory:");
  }

  private static Connection connect(String url) throws SQLException {
    SqliteLibrary.load();
    return DriverManager.getConnection(url);
  }

  /** As a URI, in which a question mark of the name is not taken for the start of settings. */
  private static String url(Path file) {
    return "jdbc:sqlite:" + file.toUri().toASCIIString();
  }

  /**
   * Whether a file is, or may become, a tuning database.
   *
   * @param columns of the table of records
   * @throws UserError if it is something else
   */
  static void requireOurs(Path file, List<String> columns) throws IOException, SQLException {
    if (!Files.exists(file)) {
      return;
    }
    if (!Files.isRegularFile(file)) {
      throw refusal(file, "is no file");
    }
    byte[] header;
    try (InputStream in = Files.newInputStream(file)) {
      header = in.readNBytes(HEADER_BYTES);
    }
    if (header.length == 0) {
      return;
    }
    if (header.length < HEADER_BYTES
        || !ByteBuffer.wrap(header, 0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
      throw refusal(file, "is no SQLite database");
    }
    if (ByteBuffer.wrap(header).getInt(APPLICATION_AT) != APPLICATION
        && !isEarlier(file, columns)) {
      throw refusal(
          file, "belongs to another program: it is a SQLite database, but not of records");
    }
  }

  /** Whether it is one of ours from before they had a mark, or has nothing in it at all. */
  private static boolean isEarlier(Path file, List<String> columns) throws SQLException {
    try (Connection connection = openReadOnly(file);
        Statement statement = connection.createStatement()) {
      if (number(statement, "PRAGMA application_id") != 0) {
        return number(statement, "PRAGMA application_id") == APPLICATION;
      }
      if (number(statement, "SELECT COUNT(*) FROM sqlite_master") == 0) {
        return number(statement, "PRAGMA user_version") == 0;
      }
      Set<String> present = new HashSet<>();
      try (ResultSet row = statement.executeQuery("PRAGMA table_info(record)")) {
        while (row.next()) {
          present.add(row.getString("name"));
        }
      }
      return present.containsAll(columns)
          && number(
                  statement,
                  "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name <> 'record'"
                      + " AND name <> 'imported' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'")
              == 0;
    }
  }

  private static long number(Statement statement, String query) throws SQLException {
    try (ResultSet row = statement.executeQuery(query)) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  private static UserError refusal(Path file, String why) {
    return new UserError(
        "tuning database "
            + file
            + " cannot be opened: it "
            + why
            + "; give another file with --db");
  }

  /** What SQLite said, in one line. */
  static String oneLine(Exception e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.lines().findFirst().orElse("");
  }
}
