package dev.warpwright.cli.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.Main;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mutation testing takes minutes: who ends it early is told what there was by then. */
final class InterruptedMutantsTest {
  private static final String QUICK_AND_SLOW =
      """
      kernel quick(x: f32[64], y: f32[64]) grid(b = 2) block(t = 32) {
        y[b * 32 + t] = x[b * 32 + t]
      }
      kernel slow(y: f32[64]) grid(b = 2) block(t = 32) {
        y[b * 32 + t] = 0.0f32
        for i in 2000000000 {
          y[b * 32 + t] = y[b * 32 + t] + 1.0f32
        }
      }
      """;

  @TempDir Path folder;

  @Test
  void whatWasTriedIsTold() throws IOException, InterruptedException {
    Path log = folder.resolve("log");
    Path table = folder.resolve("table.md");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules=jdk.incubator.vector",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "check",
                Files.writeString(folder.resolve("two.kernel"), QUICK_AND_SLOW).toString(),
                "--mutants",
                "3",
                "--threads",
                "2",
                "--seed",
                "1",
                "--table",
                table.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
      while (process.isAlive()
          && !Files.readString(log, StandardCharsets.UTF_8).contains("mutants of quick")) {
        assertThat(System.nanoTime()).as("it makes mutants").isLessThan(end);
        TimeUnit.MILLISECONDS.sleep(50);
      }
      new ProcessBuilder("kill", "-TERM", Long.toString(process.pid())).start().waitFor();
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).isEqualTo(143);
    assertThat(Files.readString(log, StandardCharsets.UTF_8))
        .containsPattern("interrupted; until then [1-9][0-9]* mutants of [1-9][0-9]* kinds");
    assertThat(table).doesNotExist();
  }
}
