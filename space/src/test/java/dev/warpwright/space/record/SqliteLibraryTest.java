package dev.warpwright.space.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQLite's native code is unpacked once and into our own folder, whatever becomes of processes. */
final class SqliteLibraryTest {
  @TempDir private Path folder;

  /** Uses a database and dies as if it were killed: nothing is cleaned up. */
  static final class Killed {
    private Killed() {}

    public static void main(String[] args) {
      try (TuningDatabase database = TuningDatabase.inMemory()) {
        System.out.println(database.all().size() + " records");
      }
      System.out.println(System.getProperty("org.sqlite.lib.path"));
      Runtime.getRuntime().halt(0);
    }
  }

  private String run(Path temporary) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "--enable-native-access=ALL-UNNAMED",
            "-Djava.io.tmpdir=" + temporary,
            "-cp",
            System.getProperty("java.class.path"),
            Killed.class.getName());
    builder.environment().put("WARPWRIGHT_CACHE", folder.resolve("cache").toString());
    Process process = builder.redirectErrorStream(true).start();
    try (var in = process.getInputStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void nothingComesIntoTheTemporaryFolder() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    for (int i = 0; i < 2; i++) {
      assertThat(run(temporary)).isEqualTo("0 records\nnull\n");
    }
    assertThat(files(temporary)).isEmpty();
    List<Path> unpacked = files(folder.resolve("cache"));
    assertThat(unpacked).hasSize(1);
    // A half or a foreign one is not loaded.
    Files.write(unpacked.getFirst(), new byte[] {1, 2, 3});
    assertThat(run(temporary)).isEqualTo("0 records\nnull\n");
    assertThat(Files.size(unpacked.getFirst())).isGreaterThan(100_000);
  }

  /** Where files may not be executed, or not even be. */
  @Test
  void aTemporaryFolderIsNotNeeded() throws Exception {
    assertThat(run(folder.resolve("missing"))).endsWith("0 records\nnull\n");
  }
}
