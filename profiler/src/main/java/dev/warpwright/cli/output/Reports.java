package dev.warpwright.cli.output;

import dev.warpwright.base.json.Json;
import java.util.List;
import java.util.stream.Collectors;

/** Several reports as one. */
public final class Reports {
  private Reports() {}

  /** One after the other; in JSON a member {@code results}. */
  public static Report many(List<Report> reports) {
    return new Report(
        reports.stream().mapToInt(Report::code).reduce(0, Report::worse),
        reports.stream()
            .map(Report::text)
            .collect(Collectors.joining(System.lineSeparator() + System.lineSeparator())),
        Json.object().with("results", Json.array(reports, Report::json)));
  }
}
