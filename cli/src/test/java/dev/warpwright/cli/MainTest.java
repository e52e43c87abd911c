package dev.warpwright.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.ExitCode;
import dev.warpwright.cli.command.VersionCommand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MainTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private int execute(String... args) {
    var stream = new PrintStream(out, true, StandardCharsets.UTF_8);
    return Main.execute(stream, stream, args);
  }

  @Test
  void theVersionIsTheBuilds() {
    assertThat(execute("version")).isEqualTo(ExitCode.OK);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .matches("warpwright \\d+\\.\\d+\\.\\d+(-SNAPSHOT)? \\(Java 2\\d[^)]*\\)\\R");
  }

  @Test
  void theShortWayAndTheParserSayTheSame() {
    execute("version");
    execute("--version");
    String shortWay = out.toString(StandardCharsets.UTF_8);
    out.reset();
    var stream = new PrintStream(out, true, StandardCharsets.UTF_8);
    var cli = new Cli(stream, stream, List.of(new VersionCommand()));
    cli.execute("version");
    cli.execute("version");
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(shortWay);
  }

  /** A word that begins with @ is what it says, not a file of further words. */
  @Test
  void filesOfArgumentsAreNotRead(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("words"), "version");
    var err = new ByteArrayOutputStream();
    int code =
        Main.execute(
            new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            "@" + file);
    assertThat(code).isEqualTo(ExitCode.USAGE);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("there is no '@" + file + "'");
  }
}
