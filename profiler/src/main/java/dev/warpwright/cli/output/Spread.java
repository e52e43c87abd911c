package dev.warpwright.cli.output;

import dev.warpwright.base.json.Json;
import dev.warpwright.measure.timing.Quantiles;
import java.util.Locale;

/** How far measurements of one thing lie apart, as every report tells it: by their quartiles. */
public final class Spread {
  private Spread() {}

  /** The quartiles, as {@code 9.81-9.90}; a dash if it was measured once. */
  public static String text(Quantiles micros) {
    return Double.isNaN(micros.low())
        ? "-"
        : Figure.number(micros.low()) + "-" + Figure.number(micros.high());
  }

  /** Quartiles and the least of times in microseconds, to stand beside their median. */
  public static Json json(Quantiles micros) {
    return Json.object()
        .with("lowUs", micros.low())
        .with("highUs", micros.high())
        .with("minUs", micros.least());
  }

  /** The same of ratios, as {@code median 1.012 (quartiles 0.990-1.140)}. */
  static String ratios(Quantiles ratios) {
    return String.format(
        Locale.ROOT,
        "median %.3f (quartiles %.3f-%.3f)",
        ratios.median(),
        ratios.low(),
        ratios.high());
  }
}
