package dev.warpwright.measure.tuning;

import dev.warpwright.base.json.Json;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What each decision of a product's kernel is worth.
 *
 * @param workload the product, as records name it
 * @param device that measured, or that the times are predicted for
 * @param measured whether times are measured; otherwise all are the analytic model's
 * @param origin how the kernel was found: {@code tuned}, {@code untested}, {@code transferred} or
 *     {@code untuned}
 * @param winner the kernel itself
 * @param rows the kernel with one decision changed, in the order of the decisions
 */
public record Explanation(
    String workload,
    String target,
    String device,
    boolean measured,
    String origin,
    Row winner,
    List<Row> rows) {
  /** Characters for what a row changes, at least. */
  private static final int NARROWEST = 38;

  public Explanation {
    rows = List.copyOf(rows);
  }

  /**
   * A kernel.
   *
   * @param decision what was changed; empty for the winner
   * @param from the winner's option
   * @param to the option instead
   * @param also what had to change with it; an empty option for what is not decided any more
   * @param point all decisions
   * @param timeUs null if it has none
   * @param ratio its time by the winner's; null without a time
   * @param facts what the simulator, the order of tiles and the compiler say; null if impossible
   * @param failure why it has no time; null if it has one
   */
  public record Row(
      String decision,
      String from,
      String to,
      Map<String, String> also,
      String point,
      @Nullable Double timeUs,
      @Nullable Double ratio,
      @Nullable Facts facts,
      @Nullable String failure) {
    private Json json() {
      Json.Members changed = Json.object();
      for (Map.Entry<String, String> change : also.entrySet()) {
        changed = changed.with(change.getKey(), change.getValue());
      }
      Json.Members json =
          Json.object()
              .with("decision", decision)
              .with("from", from)
              .with("to", to)
              .with("also", changed)
              .with("point", point);
      json = json.with("timeUs", number(timeUs)).with("ratio", number(ratio));
      if (facts != null) {
        json = facts.into(json);
      }
      return json.with("failure", failure);
    }
  }

  /**
   * What is known of a kernel without running it on a GPU.
   *
   * @param dramBytes read and written, by the order of tiles and a cache of the device's size; NaN
   *     for kernels without tiles, as is the next
   * @param l2Bytes that blocks ask L2 for, and write
   * @param bankConflicts cycles of shared memory lost to bank conflicts, counted by the simulator;
   *     null if it was not possible
   * @param registers of a thread, by the compiler; null where none is installed
   * @param spills bytes of registers that are kept in memory; null where no compiler is installed
   */
  public record Facts(
      double dramBytes,
      double l2Bytes,
      @Nullable Double bankConflicts,
      @Nullable Integer registers,
      int sharedBytes,
      @Nullable Integer spills,
      @Nullable String sourceHash) {
    private Json.Members into(Json.Members json) {
      return json.with("dramBytes", dramBytes)
          .with("l2Bytes", l2Bytes)
          .with("bankConflicts", number(bankConflicts))
          .with("registers", number(registers))
          .with("sharedBytes", sharedBytes)
          .with("spills", number(spills))
          .with("sourceHash", sourceHash);
    }
  }

  private static Json number(@Nullable Number value) {
    return switch (value) {
      case null -> Json.of((String) null);
      case Integer whole -> Json.of((long) whole);
      default -> Json.of(value.doubleValue());
    };
  }

  /** The document that {@code docs/explain.md} describes. */
  public Json.Members json() {
    return Json.object()
        .with("workload", workload)
        .with("target", target)
        .with("device", device)
        .with("measured", measured)
        .with("origin", origin)
        .with("winner", winner.json())
        .with("rows", Json.array(rows, Row::json));
  }

  /** A table, a line for each row. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%s on %s, %s, %s%n%s%n",
            workload,
            device,
            origin,
            measured ? "times measured" : "times predicted, not measured",
            winner.point()));
    int wide = rows.stream().mapToInt(row -> change(row).length()).max().orElse(0);
    String head = "%-" + Math.max(NARROWEST, wide) + "s";
    String columns = " %10s   ratio   DRAM MB     L2 MB conflicts  regs   shared spills%n";
    String time = measured ? "us" : "predicted";
    text.append(String.format(Locale.ROOT, head + columns, "", time));
    text.append(line(String.format(Locale.ROOT, head, "as it is"), winner));
    rows.forEach(row -> text.append(line(String.format(Locale.ROOT, head, change(row)), row)));
    return text.toString().stripTrailing();
  }

  private static String change(Row row) {
    StringBuilder change = new StringBuilder(row.decision() + " " + row.from() + " -> " + row.to());
    row.also()
        .forEach(
            (name, option) ->
                change.append(option.isEmpty() ? ", no " + name : ", " + name + " " + option));
    return change.toString();
  }

  private static String line(String name, Row row) {
    StringBuilder line = new StringBuilder(name);
    line.append(number(" %10.2f", 11, row.timeUs())).append(number(" %7.3f", 8, row.ratio()));
    Facts facts = row.facts();
    if (facts != null) {
      line.append(number(" %9.1f", 10, facts.dramBytes() / 1e6));
      line.append(number(" %9.1f", 10, facts.l2Bytes() / 1e6));
      line.append(number(" %9.0f", 10, facts.bankConflicts()));
      line.append(number(" %5d", 6, facts.registers()));
      line.append(number(" %8d", 9, facts.sharedBytes()));
      line.append(number(" %6d", 7, facts.spills()));
    }
    if (row.failure() != null) {
      line.append("  ").append(row.failure());
    }
    return line.append(System.lineSeparator()).toString();
  }

  private static String number(String format, int width, @Nullable Object value) {
    return value == null || value.equals(Double.NaN)
        ? " ".repeat(width - 1) + "-"
        : String.format(Locale.ROOT, format, Objects.requireNonNull(value));
  }
}
