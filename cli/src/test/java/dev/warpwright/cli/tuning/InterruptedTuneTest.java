package dev.warpwright.cli.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.LiveProgress;
import dev.warpwright.ir.type.DType;
import dev.warpwright.measure.tuning.GemmTuning;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.Tuner;
import dev.warpwright.tune.measure.Measurer;
import dev.warpwright.workload.GemmWorkload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Ctrl-C, as the terminal sends it, in the middle of a search. */
@DisabledOnOs(OS.WINDOWS)
final class InterruptedTuneTest {
  private static final Environment ENVIRONMENT =
      new Environment("sm_90a", "fake", "1.0", "none", "test");
  private static final GemmWorkload PRODUCT = GemmWorkload.nt(512, 512, 512, DType.BF16);

  @TempDir private Path folder;

  /** A search that takes some milliseconds for each candidate, on no device. */
  static final class Tuning {
    private Tuning() {}

    private static final class Slow implements Measurer {
      @Override
      public CompletableFuture<Trial> measure(Candidate candidate) {
        return CompletableFuture.supplyAsync(
            () ->
                new Trial(
                    candidate,
                    "hash",
                    new Outcome.Measured(candidate.features().predictedUs(), 0, 0, 0, 0)),
            CompletableFuture.delayedExecutor(5, TimeUnit.MILLISECONDS));
      }

      @Override
      public int width() {
        return 4;
      }

      @Override
      public void close() {}
    }

    public static void main(String[] args) {
      LiveProgress progress = new LiveProgress(System.err, true);
      Products products = Products.of("gemm", new KeyValues(List.of("MNK=512")));
      new TuneAction(
              () -> new TuningDevice("fake", 132, GpuTarget.SM_90A, ENVIRONMENT),
              (target, most) -> List.of(new Slow()))
          .perform(
              new TuneRequest(
                  List.of(
                      new TuneRequest.Search(
                          products,
                          new GemmTuning.Options(
                              new Tuner.Limits(1_000_000, 600),
                              GemmTuning.Search.RANDOM,
                              false,
                              false,
                              false,
                              1))),
                  Path.of(args[0]),
                  Path.of(args[1]),
                  9),
              progress);
    }
  }

  private List<TuningRecord> records(Path database) {
    try (TuningDatabase open = TuningDatabase.open(database)) {
      return open.records(PRODUCT.key(), ENVIRONMENT);
    }
  }

  @Test
  void controlCLeavesDatabaseAndTerminalSound() throws IOException, InterruptedException {
    Path database = folder.resolve("tuning.db");
    Path log = folder.resolve("log");
    int before = 0;
    boolean ignored = interruptsAreIgnored();
    for (int run = 0; run < 2; run++) {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "--enable-native-access=ALL-UNNAMED",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Tuning.class.getName(),
                  database.toString(),
                  folder.toString())
              .redirectError(log.toFile())
              .start();
      try {
        waitFor(log, "best");
        TimeUnit.MILLISECONDS.sleep(300);
        new ProcessBuilder("kill", ignored ? "-TERM" : "-INT", Long.toString(process.pid()))
            .start()
            .waitFor();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
        assertThat(process.exitValue()).isEqualTo(ignored ? 143 : 130);
      } finally {
        process.destroyForcibly();
      }
      String said = Files.readString(log, StandardCharsets.UTF_8);
      assertThat(said).endsWith("\n");
      assertThat(said).contains("interrupted; what was measured is kept");

      List<TuningRecord> records = records(database);
      assertThat(records).hasSizeGreaterThan(before);
      assertThat(records)
          .as("no candidate is blamed for the end of the search")
          .allMatch(record -> record.outcome() instanceof Outcome.Measured);
      assertThat(new HashSet<>(records.stream().map(TuningRecord::point).toList()))
          .as("the second run goes on where the first ended")
          .hasSameSizeAs(records);
      before = records.size();
    }
  }

  /** Whether this process ignores Ctrl-C, and so its children: a job in the background does. */
  private static boolean interruptsAreIgnored() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
  }

  private static void waitFor(Path log, String text) throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!Files.exists(log) || !Files.readString(log).contains(text)) {
      assertThat(System.nanoTime()).as("something is said").isLessThan(end);
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }
}
