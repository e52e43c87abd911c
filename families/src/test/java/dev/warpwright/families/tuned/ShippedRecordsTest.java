package dev.warpwright.families.tuned;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.space.record.Plausibility;
import dev.warpwright.space.record.TuningDatabase;
import dev.warpwright.space.record.TuningRecord;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What comes along was measured, all of it: choices and models are made of it. */
final class ShippedRecordsTest {
  private static final String RECORD =
      """
      {"workload":"gemm a=bf16 c=bf16 epilogue=none k=512 layout=nt m=512 n=512","target":"sm_90a",\
      "device":"NVIDIA H200","driver":"13.0","toolkit":"nvrtc 13.0","generator":"0.1.0-SNAPSHOT",\
      "point":"sketch=wgmma tileM=64","source":"4ad5a384ffc09905",\
      "outcome":"ok","message":null,"time_us":2.945,"spread":0.0009,"error":0.0016,"clock_mhz":1980,\
      "temperature":37,"at":"2026-11-22T13:39:38.059053713Z"}\
      """;

  /**
   * A time with the first 16 digits of a SHA-256 that is not zero, a clock, a temperature and a
   * point in time that is not a whole second; or a failure.
   */
  private static final Pattern MEASURED =
      Pattern.compile(
          "\"source\":\"(?!0{16})[0-9a-f]{16}(?:[0-9a-f]{48})?\",\"outcome\":\"ok\".*\"clock_mhz\":[1-9][0-9]*,"
              + "\"temperature\":[1-9][0-9]*,\"at\":\"[^\"]*[.][0-9]+Z\""
              + "|\"outcome\":\"(?!ok\")");

  /**
   * Whether a record can have been measured, of what comes with Warpwright, all of which was
   * measured by its own tuner: with the driver, the compiler, the first 16 digits of a SHA-256 of
   * the source, the device's clock and temperature, and a time that no one wrote down by hand.
   */
  private static Optional<String> shippedProblem(TuningRecord record) {
    Optional<String> problem = Plausibility.problem(record);
    if (problem.isPresent() || !(record.outcome() instanceof Outcome.Measured measured)) {
      return problem;
    }
    Environment environment = record.environment();
    if (environment.driver().isBlank() || environment.toolkit().isBlank()) {
      return Optional.of("it names no driver or no compiler");
    }
    String hash = record.sourceHash();
    if (hash.length() != 16
        || !hash.chars().allMatch(digit -> Character.digit(digit, 16) >= 0)
        || hash.chars().distinct().count() < 5) {
      return Optional.of("its hash does not begin a SHA-256: " + hash);
    }
    if (record.at().getNano() == 0) {
      return Optional.of("measured at the stroke of a second, " + record.at());
    }
    return measured.clockMhz() == 0 || measured.temperature() == 0 || measured.spread() == 0
        ? Optional.of("it has no clock, no temperature or no spread")
        : Optional.empty();
  }

  private static List<String> implausible(String name, InputStream in) throws IOException {
    List<String> problems = new ArrayList<>();
    try (TuningDatabase database = TuningDatabase.inMemory();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
      assertThat(database.importLines(lines, name)).as(name).isPositive();
      for (TuningRecord record : database.all()) {
        shippedProblem(record).ifPresent(why -> problems.add(why + ": " + record));
      }
    }
    return problems;
  }

  @Test
  void whatComesAlongWasMeasured() throws IOException {
    try (InputStream in = ShippedRecords.class.getResourceAsStream("records.jsonl")) {
      assertThat(in).isNotNull();
      assertThat(implausible("records.jsonl", in)).isEmpty();
    }
  }

  @Test
  void soWereAllRecordsOfBenchmarks() throws IOException {
    List<Path> files;
    try (var all = Files.list(Path.of("..", "bench", "records"))) {
      files = all.filter(file -> file.toString().endsWith(".jsonl.gz")).sorted().toList();
    }
    assertThat(files).isNotEmpty();
    // Tens of thousands: the marks of an invention are looked for in the text.
    for (Path file : files) {
      try (BufferedReader in =
          new BufferedReader(
              new InputStreamReader(
                  new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
        List<String> invented =
            in.lines().filter(line -> !MEASURED.matcher(line).find()).limit(3).toList();
        assertThat(invented).as(file.toString()).isEmpty();
      }
    }
  }

  /** The record with one field replaced, as an invented one would have it. */
  @ParameterizedTest
  @CsvSource({
    "source, 0000000000000000000000000000000000000000000000000000000000000000, hash of its source"
        + " is zero",
    "source, '', a time without the hash",
    "spread, 2.9, uncertain by 2.9",
    "error, 2.5, wrong by 2.5",
    "temperature, 900, 900 degrees",
    "device, '', no device"
  })
  void aHintIsNoRecord(String field, String value, String message) throws IOException {
    String invented = with(field, value);
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      assertThatThrownBy(
              () -> database.importLines(new BufferedReader(new StringReader(invented)), "hints"))
          .isInstanceOf(UserError.class)
          .hasMessageContaining("hints, line 1: nothing that was measured")
          .hasMessageContaining(message);
      assertThat(database.all()).isEmpty();
    }
  }

  /** What a user's database may hold, but nothing that comes along. */
  @ParameterizedTest
  @CsvSource({
    "at, 2026-11-22T12:00:00Z, stroke of a second",
    "source, abcd, begin a SHA-256",
    "clock_mhz, 0, no clock",
    "driver, '', no driver"
  })
  void whatComesAlongIsHeldToMore(String field, String value, String message) throws IOException {
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.importLines(new BufferedReader(new StringReader(RECORD)), "good");
      assertThat(shippedProblem(database.all().getFirst())).isEmpty();
    }
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      database.importLines(new BufferedReader(new StringReader(with(field, value))), "bad");
      assertThat(shippedProblem(database.all().getFirst()))
          .hasValueSatisfying(problem -> assertThat(problem).contains(message));
    }
  }

  private static String with(String field, String value) {
    String quoted =
        RECORD.replaceFirst("\"" + field + "\":\"[^\"]*\"", "\"" + field + "\":\"" + value + "\"");
    return quoted.equals(RECORD)
        ? RECORD.replaceFirst("\"" + field + "\":[0-9.]+", "\"" + field + "\":" + value)
        : quoted;
  }
}
