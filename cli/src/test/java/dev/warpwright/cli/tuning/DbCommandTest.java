package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import dev.warpwright.cli.command.ExitCode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What db must never do to a file. */
final class DbCommandTest {
  @TempDir Path folder;
  private String said = "";

  private int db(Path database, String... args) {
    var out = new ByteArrayOutputStream();
    var stream = new PrintStream(out, true, StandardCharsets.UTF_8);
    String[] all = new String[args.length + 3];
    all[0] = "db";
    System.arraycopy(args, 0, all, 1, args.length);
    all[args.length + 1] = "--db";
    all[args.length + 2] = database.toString();
    int code = Main.execute(stream, stream, all);
    said = out.toString(StandardCharsets.UTF_8);
    return code;
  }

  private Path foreign() throws Exception {
    Path file = folder.resolve("places.sqlite");
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        var statement = connection.createStatement()) {
      statement.execute("CREATE TABLE bookmark (url TEXT)");
    }
    return file;
  }

  @Test
  void anExportReplacesNoDatabase() throws IOException {
    Path own = folder.resolve("own.db");
    assertThat(db(own, "list")).as(said).isEqualTo(ExitCode.OK);
    byte[] before = Files.readAllBytes(own);
    assertThat(db(own, "export", own.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(said).contains("is a database").hasLineCount(1);
    Path other = Files.copy(own, folder.resolve("other.db"));
    assertThat(db(own, "export", other.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(own).hasBinaryContent(before);
    assertThat(other).hasBinaryContent(before);
    Path lines = folder.resolve("records.jsonl");
    assertThat(db(own, "export", lines.toString())).as(said).isEqualTo(ExitCode.OK);
    assertThat(lines).isNotEmptyFile();
  }

  @Test
  void anotherProgramsFileStaysAsItIs() throws Exception {
    Path theirs = foreign();
    byte[] before = Files.readAllBytes(theirs);
    assertThat(db(theirs, "list")).isEqualTo(ExitCode.USAGE);
    assertThat(said).contains("belongs to another program").hasLineCount(1);
    assertThat(db(folder.resolve("own.db"), "merge", theirs.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(said).contains("belongs to another program");
    assertThat(theirs).hasBinaryContent(before);
  }

  @Test
  void whatWasPrunedStaysForgotten() {
    Path own = folder.resolve("own.db");
    assertThat(db(own, "prune", "--keep", "1")).as(said).isEqualTo(ExitCode.OK);
    Path first = folder.resolve("first");
    Path second = folder.resolve("second");
    assertThat(db(own, "export", first.toString())).isEqualTo(ExitCode.OK);
    assertThat(db(own, "prune", "--keep", "1")).isEqualTo(ExitCode.OK);
    assertThat(said).contains("0 records forgotten").doesNotContain("added to");
    assertThat(db(own, "export", second.toString())).isEqualTo(ExitCode.OK);
    assertThat(second).hasSameTextualContentAs(first);
  }
}
