package dev.warpwright.cli.output;

import dev.warpwright.base.json.Json;
import dev.warpwright.measure.timing.Quantiles;
import java.util.Arrays;
import java.util.Locale;

/**
 * Ratios of several products in a few numbers. The geometric mean alone would hide that one win
 * pays for many losses, so it is never told without median, quartiles and losses.
 *
 * @param losses how many are below 1
 */
public record Ratios(int count, int losses, double mean, Quantiles quantiles) {
  /** Of ratios above 1 where we are faster. */
  public static Ratios of(double[] ratios) {
    return new Ratios(
        ratios.length,
        (int) Arrays.stream(ratios).filter(ratio -> ratio < 1).count(),
        Math.exp(Arrays.stream(ratios).map(Math::log).average().orElse(Double.NaN)),
        Quantiles.of(ratios));
  }

  /**
   * As {@code 14 of 27 lost; geometric mean 1.154, median 0.995 (quartiles 0.98-1.2), least 0.9}.
   */
  public String text() {
    return count == 0
        ? "nothing compared"
        : String.format(Locale.ROOT, "%d of %d lost; %s", losses, count, middle());
  }

  /** The same where a ratio below 1 is no loss. */
  public String middle() {
    return count == 0
        ? "nothing compared"
        : String.format(
            Locale.ROOT,
            "geometric mean %.3f, %s, least %.3f",
            mean,
            Spread.ratios(quantiles),
            quantiles.least());
  }

  /** With the numbers behind what is there. */
  public Json.Members into(Json.Members json) {
    return json.with("compared", count)
        .with("losses", losses)
        .with("geometricMean", mean)
        .with("median", quantiles.median())
        .with("lowQuartile", quantiles.low())
        .with("highQuartile", quantiles.high())
        .with("least", quantiles.least());
  }
}
