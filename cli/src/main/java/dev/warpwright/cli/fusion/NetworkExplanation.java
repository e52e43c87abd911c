package dev.warpwright.cli.fusion;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.networks.NetworkTask;
import dev.warpwright.cli.output.Figure;
import dev.warpwright.cli.output.OneLine;
import dev.warpwright.cli.output.Report;
import dev.warpwright.compiler.records.NetworkRecords;
import dev.warpwright.measure.network.NetworkResult;
import dev.warpwright.space.Point;
import dev.warpwright.space.record.FailureReason;
import dev.warpwright.verify.NetworkBounds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The ways to compute a network in a table, and a sentence on why the fastest is.
 *
 * @param measured whether times were measured; else they are predicted
 */
record NetworkExplanation(
    NetworkTask task, String device, boolean measured, NetworkBounds bounds, List<Row> rows) {
  /**
   * An alternative.
   *
   * @param result null where nothing was measured
   */
  record Row(String name, NetworkFacts facts, @Nullable NetworkResult result) {
    /** Measured, or else predicted; not a number for one that was measured and is no good. */
    double micros() {
      return result == null
          ? facts.predictedUs()
          : result.times() == null ? Double.NaN : result.times().micros();
    }

    String strategy() {
      return String.valueOf(NetworkRecords.point(name).option("strategy"));
    }

    boolean isWrong() {
      return result != null
          && result.failure() != null
          && result.failure().reason() == FailureReason.WRONG;
    }
  }

  /** Predicted times that differ by less tell nothing; what is presumed does. */
  private static final double SAME = 1.02;

  /** So many times that counts against a predicted time whose kernel spills. */
  private static final double SPILLED = 5;

  /**
   * @param rows the presumably fastest first
   */
  NetworkExplanation {
    rows = rows.stream().sorted(Comparator.comparingDouble(NetworkExplanation::place)).toList();
  }

  private static double place(Row row) {
    double micros = row.micros();
    return Double.isNaN(micros)
        ? Double.POSITIVE_INFINITY
        : row.result() == null
            ? Math.rint(Math.log(micros) / Math.log(SAME)) + (row.facts().isSpilled() ? SPILLED : 0)
            : micros;
  }

  Report report() {
    boolean ok = rows.stream().noneMatch(Row::isWrong) && !Double.isNaN(rows.getFirst().micros());
    return new Report(ok, text(), json());
  }

  private String text() {
    List<String> lines = new ArrayList<>();
    lines.add(
        task.text()
            + " on "
            + device
            + (measured ? "" : ": times are predicted, nothing was measured"));
    int width = rows.stream().mapToInt(row -> row.name().length()).max().orElse(1);
    String name = "%-" + width + "s";
    lines.add(
        String.format(
            Locale.ROOT,
            name + " %10s %6s %9s %9s %5s %7s %6s %14s %10s",
            "",
            measured ? "us" : "predicted",
            "bound",
            "memory MB",
            "SM MB",
            "regs",
            "shared",
            "spills",
            "warps an SM",
            "conflicts"));
    rows.forEach(row -> lines.add(line(name, row)));
    lines.add(bounds.text());
    lines.add(why());
    return String.join(System.lineSeparator(), lines.stream().map(OneLine::of).toList());
  }

  private String line(String name, Row row) {
    String label = String.format(Locale.ROOT, name, row.name());
    if (row.result() != null && row.result().failure() != null) {
      return label
          + " "
          + row.result().failure().reason().text()
          + ": "
          + row.result().failure().message();
    }
    NetworkFacts facts = row.facts();
    return label
        + String.format(
            Locale.ROOT,
            " %10s %6s %9.1f %9.1f %5s %7d %6s %8d (%2.0f%%) %10s",
            Figure.number(row.micros()),
            bounds.isKnown()
                ? String.format(Locale.ROOT, "%.2f", row.micros() / bounds.micros())
                : "-",
            facts.dramBytes() / 1e6,
            facts.tileBytes() / 1e6,
            facts.registers() == null ? "-" : facts.registers().toString(),
            facts.sharedBytes(),
            facts.spills() == null ? "-" : facts.spills().toString(),
            facts.warps(),
            100 * facts.occupancy(),
            facts.conflicts() == null
                ? "-"
                : String.format(Locale.ROOT, "%.0f", facts.conflicts()));
  }

  /** One sentence. */
  private String why() {
    Row best = rows.getFirst();
    if (Double.isNaN(best.micros())) {
      return "nothing could be measured";
    }
    StringBuilder why = new StringBuilder(best.name());
    why.append(measured ? " wins" : " should win");
    if (bounds.isKnown()) {
      why.append(
          String.format(
              Locale.ROOT,
              " at %.2f times its bound by %s",
              best.micros() / bounds.micros(),
              bounds.by()));
    }
    Optional<Row> other =
        timed().filter(row -> !row.strategy().equals(best.strategy())).findFirst();
    other.ifPresent(
        row ->
            why.append(
                String.format(
                    Locale.ROOT,
                    "; %s takes %.2f times as long and moves %.2f times the bytes to and from the"
                        + " SMs",
                    row.name(),
                    row.micros() / best.micros(),
                    row.facts().tileBytes() / best.facts().tileBytes())));
    timed()
        .filter(row -> row != best && row.strategy().equals(best.strategy()))
        .findFirst()
        .ifPresent(
            row ->
                why.append(
                    place(row) == place(best)
                        ? "; the model does not tell it from others of its kind"
                        : String.format(
                            Locale.ROOT,
                            "; next of its kind, %.1f%% slower, is the one with %s",
                            100 * (row.micros() / best.micros() - 1),
                            difference(best, row))));
    if (timed().count() == 1) {
      why.append(rows.size() == 1 ? "; there is no other way" : "; no other way could be measured");
    }
    return why.toString();
  }

  private java.util.stream.Stream<Row> timed() {
    return rows.stream().filter(row -> !Double.isNaN(row.micros()));
  }

  /** The choices of the second that the first does not have. */
  private static String difference(Row a, Row b) {
    List<String> words = new ArrayList<>();
    Point mine = NetworkRecords.point(a.name());
    for (Point.Choice choice : NetworkRecords.point(b.name()).choices()) {
      if (!choice.option().equals(mine.option(choice.name()))) {
        words.add(choice.name() + "=" + choice.option());
      }
    }
    return words.isEmpty() ? "the same choices" : String.join(" ", words);
  }

  private Json json() {
    return Json.object()
        .with("workload", task.text())
        .with("key", task.key().text())
        .with("device", device)
        .with("measured", measured)
        .with("boundUs", bounds.micros())
        .with("boundBy", bounds.isKnown() ? bounds.by() : "unknown")
        .with("winner", rows.getFirst().name())
        .with("why", why())
        .with("alternatives", Json.array(rows, NetworkExplanation::json));
  }

  private static Json json(Row row) {
    NetworkFacts facts = row.facts();
    Json.Members json =
        Json.object()
            .with("name", row.name())
            .with("predictedUs", facts.predictedUs())
            .with("dramBytes", facts.dramBytes())
            .with("tileBytes", facts.tileBytes())
            .with("sharedBytes", facts.sharedBytes())
            .with("warps", facts.warps())
            .with("occupancy", facts.occupancy())
            .with("conflicts", facts.conflicts() == null ? Double.NaN : facts.conflicts());
    if (facts.registers() != null) {
      json = json.with("registers", (int) facts.registers());
    }
    if (facts.spills() != null) {
      json = json.with("spills", (int) facts.spills());
    }
    NetworkResult result = row.result();
    if (result == null) {
      return json;
    }
    json = json.with("verified", result.verified());
    if (result.times() != null) {
      json =
          json.with("timeUs", result.times().micros())
              .with("sustainedUs", result.times().sustained());
    }
    if (result.error() != null) {
      json = json.with("relError", result.error().relative());
    }
    return result.failure() == null
        ? json
        : json.with("reason", result.failure().reason().text())
            .with("failure", result.failure().message());
  }
}
