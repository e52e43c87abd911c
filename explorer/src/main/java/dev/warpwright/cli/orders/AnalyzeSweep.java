package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Report;
import dev.warpwright.perf.analyze.Analysis;
import dev.warpwright.target.DeviceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How a workload's time climbs with one of its numbers: {@code M=1..4096}, doubled each time. */
public final class AnalyzeSweep {
  private static final Pattern RANGE = Pattern.compile("([A-Za-z]\\w*)=(\\d{1,9})\\.\\.(\\d{1,9})");

  private final String key;
  private final List<Long> values;
  private final List<AnalyzeRequest> requests;

  private AnalyzeSweep(String key, List<Long> values, List<AnalyzeRequest> requests) {
    this.key = key;
    this.values = values;
    this.requests = requests;
  }

  /**
   * The sweep that words ask for; null if none of them is a range.
   *
   * @param read makes a request of words without ranges
   * @throws UserError if several are ranges, or one is empty
   */
  public static @Nullable AnalyzeSweep of(
      List<String> words, Function<List<String>, AnalyzeRequest> read) {
    List<String> ranges = words.stream().filter(word -> RANGE.matcher(word).matches()).toList();
    if (ranges.isEmpty()) {
      return null;
    }
    Matcher range = RANGE.matcher(ranges.getFirst());
    if (ranges.size() > 1 || !range.matches()) {
      throw new UserError("one range only, as M=1..4096: " + String.join(" ", ranges));
    }
    long first = Long.parseLong(range.group(2));
    long last = Long.parseLong(range.group(3));
    if (first < 1 || last < first) {
      throw new UserError(ranges.getFirst() + ": the range is empty; write M=1..4096");
    }
    List<Long> values = new ArrayList<>();
    for (long value = first; value < last; value *= 2) {
      values.add(value);
    }
    values.add(last);
    List<AnalyzeRequest> requests = new ArrayList<>();
    for (long value : values) {
      List<String> at = new ArrayList<>(words);
      at.replaceAll(word -> word.equals(ranges.getFirst()) ? range.group(1) + "=" + value : word);
      requests.add(read.apply(at));
    }
    return new AnalyzeSweep(range.group(1), values, requests);
  }

  /** A line for each value and device. */
  public Report report() {
    List<String> lines = new ArrayList<>();
    for (DeviceModel gpu : requests.getFirst().gpus()) {
      lines.add(gpu.name());
      lines.add(
          String.format(
              Locale.ROOT, "%10s %12s %12s  %s", key, "at least", "predicted", "bound by"));
      for (int i = 0; i < values.size(); i++) {
        Analysis analysis = Analysis.of(requests.get(i).workload(), gpu);
        lines.add(
            String.format(
                Locale.ROOT,
                "%10d %12s %12s  %s%s",
                values.get(i),
                AnalyzeAction.time(analysis.boundUs()),
                AnalyzeAction.time(analysis.predictedUs()),
                boundBy(analysis),
                analysis.fits() ? "" : ", does not fit"));
      }
    }
    lines.addAll(requests.getFirst().notes());
    return new Report(true, String.join(System.lineSeparator(), lines), json());
  }

  /** The same as the page gets it. */
  public Json json() {
    return Json.object()
        .with("sweep", key)
        .with("notes", Json.array(requests.getFirst().notes(), Json::of))
        .with(
            "devices",
            Json.array(
                requests.getFirst().gpus(),
                gpu -> {
                  List<Json> points = new ArrayList<>();
                  for (int i = 0; i < values.size(); i++) {
                    Analysis analysis = Analysis.of(requests.get(i).workload(), gpu);
                    points.add(
                        Json.object()
                            .with("at", values.get(i))
                            .with("boundUs", analysis.boundUs())
                            .with("predictedUs", analysis.predictedUs())
                            .with("boundBy", boundBy(analysis))
                            .with("fits", analysis.fits()));
                  }
                  return Json.object()
                      .with("gpu", gpu.name())
                      .with("points", new Json.Array(points));
                }));
  }

  /** What decides most of the time that is needed at least. */
  private static String boundBy(Analysis analysis) {
    double memory =
        analysis.lines().stream()
            .filter(line -> !line.part().vanishes() && line.roofline().memoryBound())
            .mapToDouble(Analysis.Line::totalBoundUs)
            .sum();
    return memory >= analysis.boundUs() / 2 ? "memory" : "compute";
  }
}
