package dev.warpwright.cli.devices;

import dev.warpwright.base.UserError;
import dev.warpwright.base.json.Json;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.output.Report;
import dev.warpwright.parallel.cost.FleetCost;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code perf fleet}: what tuning on a fleet would take. Nothing of it is measured. */
public final class FleetEstimate {
  static final String KEYS =
      "gpus, shapes, t, batch, measure, anchor, compile, cores, task, propose, drivercores, record,"
          + " bytes, price";

  private FleetEstimate() {}

  /**
   * By assumptions of which each can be given.
   *
   * @throws UserError if one is no number, or not known
   */
  public static Report of(KeyValues values) {
    FleetCost.Assumptions a =
        new FleetCost.Assumptions(
            positive(values, "gpus", 1000),
            positive(values, "shapes", 1e6),
            positive(values, "t", 64),
            positive(values, "batch", 8),
            positive(values, "measure", 0.5),
            positive(values, "anchor", 0.1),
            positive(values, "compile", 2),
            positive(values, "cores", 8),
            positive(values, "task", 0.005),
            positive(values, "propose", 0.002),
            positive(values, "drivercores", 16),
            positive(values, "record", 0.0002),
            positive(values, "bytes", 800));
    double price = values.decimal("price", 2.5);
    values.finish(KEYS);
    FleetCost cost = FleetCost.of(a);
    List<String> lines = new ArrayList<>();
    lines.add(
        line(
            "%.0f GPUs, %.0f shapes of %.0f trials: %.3g trials in %.1f h; the limit: %s",
            a.gpus(), a.shapes(), a.trials(), cost.trials(), cost.hours(), cost.bottleneck()));
    for (Map.Entry<String, Double> limit : cost.limits().entrySet()) {
      lines.add(
          line(
              "  %-10s %9.0f trials/s, busy for %3.0f %%",
              limit.getKey(), limit.getValue(), 100 * cost.trialsPerSecond() / limit.getValue()));
    }
    lines.add(
        line(
            "database %.1f GB; %.0f GPU hours, %.0f at %.2f an hour",
            cost.databaseBytes() * 1e-9, cost.gpuHours(), cost.gpuHours() * price, price));
    lines.add(
        line(
            "assumed, not measured: measure=%s anchor=%s s of a GPU, compile=%s s of one of cores=%s"
                + " a GPU, batch=%s, task=%s propose=%s s of the driver with drivercores=%s,"
                + " record=%s s and bytes=%s of the database",
            a.measureSeconds(),
            a.anchorSeconds(),
            a.compileSeconds(),
            a.cores(),
            a.batch(),
            a.taskSeconds(),
            a.proposeSeconds(),
            a.driverCores(),
            a.recordSeconds(),
            a.recordBytes()));
    Json.Members limits = Json.object();
    for (Map.Entry<String, Double> limit : cost.limits().entrySet()) {
      limits = limits.with(limit.getKey(), limit.getValue());
    }
    return new Report(
        true,
        String.join(System.lineSeparator(), lines),
        Json.object()
            .with("trials", cost.trials())
            .with("hours", cost.hours())
            .with("trialsPerSecond", cost.trialsPerSecond())
            .with("limits", limits)
            .with("bottleneck", cost.bottleneck())
            .with("databaseBytes", cost.databaseBytes())
            .with("gpuHours", cost.gpuHours())
            .with("cost", cost.gpuHours() * price));
  }

  private static double positive(KeyValues values, String key, double otherwise) {
    String text = values.text(key);
    double value = otherwise;
    if (text != null) {
      try {
        value = Double.parseDouble(text);
      } catch (NumberFormatException e) {
        value = Double.NaN;
      }
    }
    if (!(value > 0 && value <= 1e12)) {
      throw new UserError(key + "=" + text + ": it is a number above 0, as 0.5");
    }
    return value;
  }

  private static String line(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
