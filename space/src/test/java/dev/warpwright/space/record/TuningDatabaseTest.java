package dev.warpwright.space.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.space.Point;
import dev.warpwright.workload.WorkloadKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

final class TuningDatabaseTest {
  static final Environment H200 = new Environment("sm_90a", "NVIDIA H200", "580.1", "13.0", "0.1");

  @TempDir private Path folder;

  static TuningRecord measured(String workload, Environment environment, int n, double timeUs) {
    return new TuningRecord(
        WorkloadKey.parse(workload),
        environment,
        Point.parse("sketch=wgmma n=" + n),
        "hash" + n,
        new Outcome.Measured(timeUs, 0.01, 1e-3, 1980, 45),
        Instant.parse("2026-11-20T12:00:00Z").plusSeconds(n));
  }

  static TuningRecord failed(String workload, int n) {
    return new TuningRecord(
        WorkloadKey.parse(workload),
        H200,
        Point.parse("sketch=wgmma n=" + n),
        "",
        new Outcome.Failed(FailureReason.WRONG, "relative error 0.5, \"much\"\nand a line"),
        Instant.parse("2026-11-20T12:00:00Z").plusSeconds(n));
  }

  private TuningDatabase open(String name) {
    return TuningDatabase.open(folder.resolve(name));
  }

  @Test
  void keepsWhatItIsGiven() {
    TuningRecord good = measured("gemm m=1", H200, 1, 12.5);
    TuningRecord bad = failed("gemm m=1", 2);
    try (TuningDatabase database = open("sub/folder/a.db")) {
      database.add(good);
      database.add(bad);
    }
    try (TuningDatabase database = open("sub/folder/a.db")) {
      assertThat(database.all()).containsExactly(good, bad);
      assertThat(database.records(good.workload(), H200)).containsExactly(good, bad);
      Environment other = new Environment("sm_90a", "NVIDIA H200", "590", "13.0", "0.1");
      assertThat(database.records(good.workload(), other)).isEmpty();
      assertThat(database.best(good.workload(), "sm_90a", "NVIDIA H200")).contains(good);
      assertThat(database.best(good.workload(), "sm_80", "NVIDIA A100")).isEmpty();
      TuningDatabase.Summary summary = database.summaries().getFirst();
      assertThat(summary.trials()).isEqualTo(2);
      assertThat(summary.failures()).isEqualTo(1);
      assertThat(summary.bestUs()).isEqualTo(12.5);
    }
  }

  @Test
  void theBestOfThisDeviceComesBeforeABetterOneOfAnother() {
    Environment h100 = new Environment("sm_90a", "NVIDIA H100", "580.1", "13.0", "0.1");
    TuningRecord here = measured("gemm m=1", H200, 1, 12);
    TuningRecord there = measured("gemm m=1", h100, 2, 11);
    try (TuningDatabase database = open("a.db")) {
      database.add(here);
      database.add(there);
      assertThat(database.best(here.workload(), "sm_90a", "NVIDIA H200")).contains(here);
      assertThat(database.best(here.workload(), "sm_90a", "another")).contains(there);
    }
  }

  @Test
  void ofWhatWasMeasuredAgainTheLastTimeCounts() {
    TuningRecord lucky = measured("gemm m=1", H200, 1, 10);
    TuningRecord steady = measured("gemm m=1", H200, 2, 11);
    TuningRecord again =
        new TuningRecord(
            lucky.workload(),
            H200,
            lucky.point(),
            lucky.sourceHash(),
            new Outcome.Measured(12, 0.01, 1e-3, 1980, 45),
            lucky.at().plusSeconds(60));
    try (TuningDatabase database = open("a.db")) {
      // A database that comes later may hold what was measured earlier.
      database.add(again);
      database.add(lucky);
      database.add(steady);
      assertThat(database.best(lucky.workload(), "sm_90a", "NVIDIA H200")).contains(steady);
      assertThat(database.nearest(WorkloadKey.parse("gemm m=2"), "sm_90a", 1))
          .containsExactly(steady);
      TuningDatabase.Summary summary = database.summaries().getFirst();
      assertThat(summary.trials()).isEqualTo(2);
      assertThat(summary.bestUs()).isEqualTo(11);
      assertThat(database.all()).hasSize(3);
      assertThat(database.prune(1)).isEqualTo(2);
      assertThat(database.all()).containsExactly(steady);
    }
  }

  @Test
  void findsTheBestOfTheNearestWorkloads() {
    try (TuningDatabase database = open("a.db")) {
      for (int m : new int[] {1, 16, 64, 4096}) {
        database.add(measured("gemm m=" + m, H200, m, 20));
        database.add(measured("gemm m=" + m, H200, m + 1, 10));
        database.add(failed("gemm m=" + m, m + 2));
      }
      database.add(failed("gemm m=32", 9000));
      database.add(measured("ffn m=32", H200, 9001, 1));
      List<TuningRecord> near = database.nearest(WorkloadKey.parse("gemm m=32"), "sm_90a", 2);
      assertThat(near)
          .extracting(r -> r.workload().text())
          .containsExactlyInAnyOrder("gemm m=16", "gemm m=64");
      assertThat(near).allMatch(r -> ((Outcome.Measured) r.outcome()).timeUs() == 10);
      assertThat(database.nearest(WorkloadKey.parse("gemm m=32"), "sm_80", 2)).isEmpty();
    }
  }

  @Test
  void jsonLinesGoThereAndBack() throws IOException {
    StringWriter text = new StringWriter();
    try (TuningDatabase database = open("a.db")) {
      database.add(measured("gemm m=1", H200, 1, 12.5));
      database.add(failed("gemm m=1", 2));
      assertThat(database.export(text)).isEqualTo(2);
    }
    assertThat(text.toString().lines())
        .hasSize(2)
        .allMatch(line -> line.startsWith("{\"workload\":\"gemm m=1\""));
    try (TuningDatabase database = open("b.db");
        TuningDatabase original = open("a.db")) {
      assertThat(database.importLines(reader(text.toString()), "x.jsonl")).isEqualTo(2);
      assertThat(database.importLines(reader(text.toString()), "x.jsonl")).isZero();
      assertThat(database.all()).isEqualTo(original.all());
    }
  }

  @Test
  void aBrokenLineAddsNothing() throws IOException {
    StringWriter text = new StringWriter();
    try (TuningDatabase database = open("a.db")) {
      database.add(measured("gemm m=1", H200, 1, 12.5));
      database.export(text);
    }
    String good = text.toString();
    List<String> bad =
        List.of(
            "nonsense",
            "{",
            "[]",
            "{}",
            good.strip().replace("\"ok\"", "\"fine\""),
            good.strip().replace("12.5", "-1"),
            good.strip().replace("12.5", "null"),
            good.strip().replace("2026", "year"),
            "{\"workload\":\"" + "x".repeat(100_000) + "\"}");
    try (TuningDatabase database = open("b.db")) {
      for (String line : bad) {
        assertThatThrownBy(() -> database.importLines(reader(good + line + "\n"), "x.jsonl"))
            .as(line.substring(0, Math.min(60, line.length())))
            .isInstanceOf(UserError.class)
            .hasMessageStartingWith("x.jsonl, line 2: ")
            .message()
            .doesNotContain("\n");
        assertThat(database.all()).isEmpty();
      }
      assertThat(database.importLines(reader(good), "x.jsonl")).isEqualTo(1);
    }
  }

  @Test
  void pruningKeepsTheFastest() {
    try (TuningDatabase database = open("a.db")) {
      for (int n = 1; n <= 5; n++) {
        database.add(measured("gemm m=1", H200, n, 10 * n));
      }
      database.add(failed("gemm m=1", 6));
      database.add(measured("gemm m=2", H200, 7, 1));
      assertThat(database.prune(2)).isEqualTo(4);
      assertThat(database.all())
          .extracting(r -> ((Outcome.Measured) r.outcome()).timeUs())
          .containsExactly(10.0, 20.0, 1.0);
    }
  }

  @Test
  void saysInOneLineWhatIsWrongWithTheFile() throws Exception {
    Path text = folder.resolve("text.db");
    Files.writeString(
        text, "this is no database, but it is long enough to look like one".repeat(20));
    Path later = folder.resolve("later.db");
    open("later.db").close();
    try (var connection = DriverManager.getConnection("jdbc:sqlite:" + later);
        var statement = connection.createStatement()) {
      statement.execute("PRAGMA user_version = 99");
    }
    for (Path file : List.of(text, later, folder, text.resolve("below/a.db"))) {
      assertThatThrownBy(() -> TuningDatabase.open(file))
          .as(file.toString())
          .isInstanceOf(UserError.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("--db")
          .message()
          .doesNotContain("\n");
    }
  }

  @Test
  @Timeout(400)
  void twoProcessesLoseNothing() throws Exception {
    Path file = folder.resolve("shared.db");
    List<Process> writers = new ArrayList<>();
    for (int w = 0; w < 2; w++) {
      writers.add(RecordWriter.start(file, w * 1000, 200, Redirect.PIPE));
    }
    for (Process writer : writers) {
      writer.getInputStream().readAllBytes();
      assertThat(writer.waitFor()).isZero();
    }
    try (TuningDatabase database = TuningDatabase.open(file)) {
      assertThat(database.all()).hasSize(400);
    }
  }

  @Test
  @Timeout(400)
  void aKilledProcessLosesNothingThatItHadAdded() throws Exception {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("killed.db");
    int acknowledged = 0;
    for (int round = 0; round < 20; round++) {
      Path out = folder.resolve("out" + round);
      Process writer =
          RecordWriter.start(file, round * 100_000, 100_000, Redirect.to(out.toFile()));
      // Kills it while it writes, not while it starts.
      while (writer.isAlive() && (!Files.exists(out) || Files.size(out) == 0)) {
        Thread.sleep(5);
      }
      Thread.sleep(random.nextInt(30));
      writer.destroyForcibly();
      assertThat(writer.waitFor(20, TimeUnit.SECONDS)).isTrue();
      String lines = Files.readString(out);
      acknowledged += (int) lines.chars().filter(c -> c == '.').count();
    }
    assertThat(acknowledged).isGreaterThanOrEqualTo(20);
    try (TuningDatabase database = TuningDatabase.open(file)) {
      // One record a round may have been added before its line was written.
      assertThat(database.all().size())
          .as("seed %d", seed)
          .isBetween(acknowledged, acknowledged + 20);
    }
  }

  private static BufferedReader reader(String text) {
    return new BufferedReader(new StringReader(text));
  }

  /** Another process that adds records and prints a line after each. */
  static final class RecordWriter {
    private RecordWriter() {}

    static Process start(Path file, int first, int count, Redirect out) throws IOException {
      return new ProcessBuilder(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-XX:TieredStopAtLevel=1",
              "-XX:+UseSerialGC",
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              System.getProperty("java.class.path"),
              RecordWriter.class.getName(),
              file.toString(),
              Integer.toString(first),
              Integer.toString(count))
          .redirectError(Redirect.INHERIT)
          .redirectOutput(out)
          .start();
    }

    public static void main(String[] args) {
      int first = Integer.parseInt(args[1]);
      try (TuningDatabase database = TuningDatabase.open(Path.of(args[0]))) {
        IntStream.range(first, first + Integer.parseInt(args[2]))
            .forEach(
                n -> {
                  database.add(measured("gemm m=1", H200, n, 1 + n));
                  System.out.println(n + ".");
                });
      }
    }
  }
}
