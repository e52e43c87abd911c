package dev.warpwright.space.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many programs keep SQLite files; ours may be mistaken for theirs on a command line. */
final class ForeignDatabaseTest {
  @TempDir private Path folder;

  private static void execute(Path file, String... statements) throws SQLException {
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = connection.createStatement()) {
      for (String each : statements) {
        statement.execute(each);
      }
    }
  }

  /** Every file of the folder with its content. */
  private Map<String, String> content() throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        content.put(
            file.getFileName().toString(),
            java.util.HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return content;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE bookmark (url TEXT)",
        "CREATE TABLE record (title TEXT, year INTEGER)",
        "PRAGMA application_id = 252006674",
        "PRAGMA user_version = 7",
      })
  void anotherProgramsFileIsRefusedAndAsItWas(String statement) throws Exception {
    Path file = folder.resolve("theirs.db");
    for (String journal : new String[] {"DELETE", "WAL"}) {
      Files.deleteIfExists(file);
      execute(file, statement, "PRAGMA journal_mode = " + journal);
      Map<String, String> before = content();
      assertThatThrownBy(() -> TuningDatabase.open(file))
          .isInstanceOf(UserError.class)
          .hasMessage(
              "tuning database "
                  + file
                  + " cannot be opened: it belongs to another program: it is a SQLite database,"
                  + " but not of records; give another file with --db");
      assertThatThrownBy(() -> TuningDatabase.openReadOnly(file)).isInstanceOf(UserError.class);
      assertThat(content()).isEqualTo(before);
    }
  }

  @Test
  void aFileOfOursFromBeforeTheMarkIsOpened() throws Exception {
    Path file = folder.resolve("former.db");
    try (TuningDatabase made = TuningDatabase.open(file)) {
      made.add(TuningDatabaseTest.measured("gemm m=1", TuningDatabaseTest.H200, 1, 5));
    }
    execute(file, "PRAGMA application_id = 0", "DROP TABLE imported");
    try (TuningDatabase reader = TuningDatabase.openReadOnly(file)) {
      assertThat(reader.all()).hasSize(1);
    }
    try (TuningDatabase again = TuningDatabase.open(file)) {
      assertThat(again.all()).hasSize(1);
    }
  }

  @Test
  void readingChangesNothingAndWritingIsRefused() throws Exception {
    Path file = folder.resolve("source.db");
    try (TuningDatabase made = TuningDatabase.open(file)) {
      made.add(TuningDatabaseTest.measured("gemm m=1", TuningDatabaseTest.H200, 1, 5));
    }
    Map<String, String> before = content();
    try (TuningDatabase source = TuningDatabase.openReadOnly(file)) {
      assertThat(source.all()).hasSize(1);
      assertThatThrownBy(
              () -> source.add(TuningDatabaseTest.measured("x", TuningDatabaseTest.H200, 2, 5)))
          .isInstanceOf(UserError.class);
    }
    assertThat(content()).isEqualTo(before);
    Path missing = folder.resolve("missing.db");
    assertThatThrownBy(() -> TuningDatabase.openReadOnly(missing)).isInstanceOf(UserError.class);
    assertThat(missing).doesNotExist();
  }

  /** What follows a question mark was taken for settings, and the file before it was made. */
  @Test
  void namesMayHoldWhatUrlsUse() throws Exception {
    Path file = folder.resolve("what?cache=shared&x=1#%41 é.db");
    try (TuningDatabase made = TuningDatabase.open(file)) {
      made.add(TuningDatabaseTest.measured("gemm m=1", TuningDatabaseTest.H200, 1, 5));
    }
    assertThat(content()).containsOnlyKeys(file.getFileName().toString());
    try (TuningDatabase reader = TuningDatabase.openReadOnly(file)) {
      assertThat(reader.all()).hasSize(1);
    }
  }

  @Test
  void whatWasPrunedIsNotImportedOnceMore() throws Exception {
    String lines;
    try (TuningDatabase source = TuningDatabase.inMemory()) {
      for (int n = 1; n <= 3; n++) {
        source.add(TuningDatabaseTest.measured("gemm m=1", TuningDatabaseTest.H200, n, n));
      }
      var out = new java.io.StringWriter();
      source.export(out);
      lines = out.toString();
    }
    String later = lines.replace("\"time_us\":3.0", "\"time_us\":0.5").replace("n=3", "n=4");
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("a.db"))) {
      assertThat(database.importOnce(lines, "shipped")).isEqualTo(3);
      assertThat(database.prune(1)).isEqualTo(2);
      assertThat(database.importOnce(lines, "shipped")).isZero();
      assertThat(database.all()).hasSize(1);
    }
    // The next release brings one more: it comes, the forgotten ones stay forgotten.
    try (TuningDatabase database = TuningDatabase.open(folder.resolve("a.db"))) {
      assertThat(database.importOnce(later, "shipped")).isEqualTo(1);
      assertThat(database.all()).hasSize(2);
    }
  }
}
