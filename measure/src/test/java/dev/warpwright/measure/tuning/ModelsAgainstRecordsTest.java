package dev.warpwright.measure.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.base.json.JsonFields;
import dev.warpwright.base.json.JsonParser;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.TunedGemm;
import dev.warpwright.ir.type.DType;
import dev.warpwright.space.Point;
import dev.warpwright.space.Space;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.WorkloadKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Do the analytic models choose well? Of each product that was searched on an H200, the fastest
 * measured time by that of the measured point which the models expect to be fastest.
 *
 * <p>{@code -Dwarpwright.models=FILE} writes what came out for each product.
 */
final class ModelsAgainstRecordsTest {
  private static final Path RECORDS = Path.of("..", "bench", "records");

  /** Points of a search from which on it says something. */
  private static final int LEAST = 20;

  /** Points that the model expects to be as fast are not told apart by it. */
  private static final double TIE = 1.0005;

  private static final List<Choice> CHOICES = new ArrayList<>();

  /**
   * What the models chose of a search.
   *
   * @param best microseconds
   * @param chosen microseconds, the geometric mean of ties
   * @param spread standard deviation of the logarithms of measured by expected times
   */
  private record Choice(String workload, int points, double best, double chosen, double spread) {
    double ratio() {
      return best / chosen;
    }
  }

  private record Measured(String point, double timeUs, double predictedUs) {}

  @BeforeAll
  static void choose() throws IOException {
    Map<String, List<Measured>> searches = new TreeMap<>();
    Map<String, Space> spaces = new TreeMap<>();
    try (var files = Files.newDirectoryStream(RECORDS, "*.jsonl.gz")) {
      for (Path file : files) {
        for (String line : lines(file)) {
          JsonFields record = JsonFields.of(file.toString(), JsonParser.parse("record", line));
          String key = record.text("workload");
          // Before the morning of the 22nd candidates were timed alone, at any clock.
          if (!record.text("outcome").equals("ok")
              || record.text("at").compareTo("2026-11-22T09") < 0) {
            continue;
          }
          Space space = spaces.computeIfAbsent(key, ModelsAgainstRecordsTest::space);
          Point point = Point.parse(record.text("point"));
          Space.Drawn drawn = space.replay(point);
          if (drawn.candidate() != null && drawn.point().agrees(point)) {
            searches
                .computeIfAbsent(key + " in " + file.getFileName(), k -> new ArrayList<>())
                .add(
                    new Measured(
                        point.text(),
                        record.number("time_us"),
                        drawn.candidate().features().predictedUs()));
          }
        }
      }
    }
    searches.forEach(
        (name, points) -> {
          if (points.size() >= LEAST) {
            CHOICES.add(choice(name, points));
          }
        });
    String report = System.getProperty("warpwright.models");
    if (report != null) {
      Files.write(Path.of(report), CHOICES.stream().map(ModelsAgainstRecordsTest::line).toList());
    }
  }

  private static List<String> lines(Path file) throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.UTF_8))) {
      return reader.lines().toList();
    }
  }

  private static Space space(String key) {
    return GemmSpace.of(GemmWorkload.of(WorkloadKey.parse(key)), GpuTarget.SM_90A, 132);
  }

  private static Choice choice(String name, List<Measured> points) {
    double best = points.stream().mapToDouble(Measured::timeUs).min().orElseThrow();
    double least = points.stream().mapToDouble(Measured::predictedUs).min().orElseThrow();
    double chosen =
        Math.exp(
            points.stream()
                .filter(point -> point.predictedUs() <= TIE * least)
                .mapToDouble(point -> Math.log(point.timeUs()))
                .average()
                .orElseThrow());
    double[] errors =
        points.stream()
            .mapToDouble(point -> Math.log(point.timeUs() / point.predictedUs()))
            .toArray();
    double mean = Arrays.stream(errors).average().orElseThrow();
    double variance =
        Arrays.stream(errors).map(e -> (e - mean) * (e - mean)).average().orElseThrow();
    return new Choice(name, points.size(), best, chosen, Math.sqrt(variance));
  }

  private static String line(Choice choice) {
    return String.format(
        Locale.ROOT,
        "%.3f  %9.2f us chosen, %9.2f best of %d, spread %.2f  %s",
        choice.ratio(),
        choice.chosen(),
        choice.best(),
        choice.points(),
        choice.spread(),
        choice.workload());
  }

  private static double mean(Predicate<String> which) {
    List<Choice> some = CHOICES.stream().filter(choice -> which.test(choice.workload())).toList();
    assertThat(some).hasSizeGreaterThan(10);
    return Math.exp(
        some.stream().mapToDouble(choice -> Math.log(choice.ratio())).average().orElseThrow());
  }

  @ParameterizedTest
  @CsvSource({"a=bf16, 0.94", "a=f8e4m3, 0.94", "sums=tf32, 0.95"})
  void chooseNearlyTheFastestThatWasMeasured(String type, double least) {
    assertThat(mean(workload -> workload.contains(type + " "))).isGreaterThan(least);
  }

  /** Single threads' products have no tensor cores to wait for: more decides how fast they are. */
  @Test
  void chooseWellAmongThreads() {
    assertThat(mean(workload -> workload.contains("a=f32 ") && !workload.contains("sums=")))
        .isGreaterThan(0.93);
  }

  @Test
  void neverChooseWhatIsHopeless() {
    Choice worst = CHOICES.stream().min(Comparator.comparingDouble(Choice::ratio)).orElseThrow();
    assertThat(worst.ratio()).as(line(worst)).isGreaterThan(0.5);
  }

  /** What no search has measured so far must not become a choice by an error of the model. */
  @ParameterizedTest
  @CsvSource({
    "4095, 4097, 4099, packed",
    "2049, 2051, 2053, packed",
    "1004, 1804, 2204, wgmma",
    "4096, 4096, 4096, wgmma",
    "1, 14336, 4096, wgmma"
  })
  void familiesOfChoices(long m, long n, long k, String sketch) {
    Space space = GemmSpace.of(GemmWorkload.nt(m, n, k, DType.BF16), GpuTarget.SM_90A, 132);
    assertThat(TunedGemm.untuned(space).point().option(Space.SKETCH)).isEqualTo(sketch);
  }
}
