package dev.warpwright.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
  @TempDir Path folder;

  @Test
  void writesAndReplaces() throws IOException {
    Path file = folder.resolve("a");
    AtomicFile.write(file, out -> out.write(1));
    AtomicFile.write(file, out -> out.write(2));
    assertThat(Files.readAllBytes(file)).containsExactly(2);
    assertOnly("a");
  }

  @Test
  void leavesEverythingAsItWasIfWritingFails() throws IOException {
    Path file = folder.resolve("a");
    Files.write(file, new byte[] {1});
    StagedFiles.Content full =
        out -> {
          out.write(new byte[100_000]);
          throw new IOException("No space left on device");
        };
    assertThatThrownBy(() -> AtomicFile.write(file, full))
        .isInstanceOf(UserError.class)
        .hasMessage("cannot write " + file + ": No space left on device");
    assertThat(Files.readAllBytes(file)).containsExactly(1);
    assertOnly("a");
    assertThatThrownBy(
            () ->
                AtomicFile.write(
                    file,
                    out -> {
                      throw new IllegalStateException("a bug");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertOnly("a");
  }

  @Test
  void reportsAFullDevice() {
    Path full = Path.of("/dev/full");
    Assumptions.assumeTrue(Files.exists(full), "no /dev/full here");
    assertThatThrownBy(() -> AtomicFile.write(full, out -> out.write(new byte[10])))
        .isInstanceOf(UserError.class)
        .hasMessage("cannot write /dev/full: No space left on device");
    assertThat(full).exists();
  }

  @Test
  void reportsWhereNothingCanBeWritten() {
    assertThatThrownBy(() -> AtomicFile.write(folder, out -> out.write(1)))
        .isInstanceOf(UserError.class)
        .hasMessage("cannot write " + folder + ": it is a folder");
    Path missing = folder.resolve("none").resolve("a");
    assertThatThrownBy(() -> AtomicFile.write(missing, out -> out.write(1)))
        .isInstanceOf(UserError.class)
        .hasMessage("cannot write " + missing + ": no such file or folder");
  }

  @Test
  void keepsSymbolicLinks() throws IOException {
    Path file = Files.write(folder.resolve("a"), new byte[] {1});
    Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("a"));
    AtomicFile.write(link, out -> out.write(2));
    assertThat(link).isSymbolicLink();
    assertThat(Files.readAllBytes(file)).containsExactly(2);
    Path dangling = Files.createSymbolicLink(folder.resolve("new"), Path.of("b"));
    AtomicFile.write(dangling, out -> out.write(3));
    assertThat(Files.readAllBytes(folder.resolve("b"))).containsExactly(3);
    assertThat(dangling).isSymbolicLink();
  }

  /** Begins a file, says so, and never ends. */
  static final class Endless {
    private Endless() {}

    public static void main(String[] args) {
      AtomicFile.write(
          Path.of(args[0]),
          out -> {
            out.write(new byte[1 << 17]);
            System.out.println("begun");
            LockSupport.park();
          });
    }
  }

  @Test
  void leavesNothingWhenTheProcessIsInterrupted() throws Exception {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process process =
        new ProcessBuilder(
                java.toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Endless.class.getName(),
                folder.resolve("a").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertThat(process.inputReader().readLine()).isEqualTo("begun");
      try (Stream<Path> files = Files.list(folder)) {
        assertThat(files).hasSize(1);
      }
      process.destroy();
      assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
      assertThat(folder).isEmptyDirectory();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void writesAllOrNone() throws IOException {
    AtomicFile.writeAll(folder.resolve("new/deep"), Map.of("a", new byte[] {1}));
    assertThat(folder.resolve("new/deep/a")).hasBinaryContent(new byte[] {1});
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put("a", new byte[] {2});
    files.put("b", new byte[] {2});
    // The second cannot be written: its place is a folder.
    Files.createDirectory(folder.resolve("new/deep/b"));
    assertThatThrownBy(() -> AtomicFile.writeAll(folder.resolve("new/deep"), files))
        .isInstanceOf(UserError.class)
        .hasMessageEndingWith("b: it is a folder");
    assertThat(folder.resolve("new/deep/a")).hasBinaryContent(new byte[] {1});
    assertThatThrownBy(() -> AtomicFile.writeAll(folder.resolve("new/deep/a"), files))
        .isInstanceOf(UserError.class)
        .hasMessageStartingWith("cannot write ");
  }

  /** The name is as long as file systems take; that of the temporary file must not be longer. */
  @Test
  void writesALongName() throws IOException {
    String name = "x".repeat(255);
    AtomicFile.write(folder.resolve(name), out -> out.write(1));
    assertOnly(name);
  }

  private void assertOnly(String name) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(f -> f.getFileName().toString())).containsExactly(name);
    }
  }
}
