package dev.warpwright.cli.output;

import dev.warpwright.base.json.Json;
import dev.warpwright.perf.RooflineBound;
import dev.warpwright.perf.predict.Prediction;
import java.util.Locale;

/**
 * A time as every report tells it: what was measured, what the analytic model expects, and what no
 * kernel for the same job can beat, in microseconds.
 *
 * @param measured not a number if nothing was
 * @param predicted not a number if the model has nothing to go by
 */
public record Figure(double measured, double predicted, RooflineBound least) {
  private static final double SMALL = 10;

  /** A measured time and what was expected of it. */
  public static Figure measured(double micros, Prediction prediction) {
    return new Figure(micros, prediction.micros(), prediction.least());
  }

  /** What is expected where nothing is measured. */
  public static Figure expected(Prediction prediction) {
    return new Figure(Double.NaN, prediction.micros(), prediction.least());
  }

  /** As {@code 12.3 us measured, 9.80 predicted, bound 8.10 (bytes)}; empty if all is unknown. */
  public String text() {
    StringBuilder text = new StringBuilder();
    append(text, measured, "%s%s measured");
    append(text, predicted, "%s%s predicted");
    if (least.isKnown()) {
      append(text, least.micros(), "bound %s%s (" + least.by().text() + ")");
    }
    return text.toString();
  }

  private static void append(StringBuilder text, double micros, String format) {
    if (!Double.isNaN(micros)) {
      String unit = text.isEmpty() ? " us" : "";
      text.append(text.isEmpty() ? "" : ", ")
          .append(String.format(Locale.ROOT, format, number(micros), unit));
    }
  }

  /** Microseconds to three digits or more. */
  public static String number(double micros) {
    return Double.isNaN(micros)
        ? "-"
        : String.format(Locale.ROOT, micros < SMALL ? "%.2f" : "%.1f", micros);
  }

  /** Members {@code predictedUs}, {@code leastUs} and {@code leastBy} behind those given. */
  public Json.Members into(Json.Members json) {
    return json.with("predictedUs", predicted)
        .with("leastUs", least.micros())
        .with("leastBy", least.by().text());
  }
}
