package dev.warpwright.cli.run;

import dev.warpwright.base.Names;
import dev.warpwright.base.json.Json;
import dev.warpwright.model.graph.Value;
import dev.warpwright.sim.Verification;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How one output compares with what it should be.
 *
 * @param result of the comparison of the whole
 * @param element the greatest error of an element by what honest arithmetic may be off there
 * @param worst where that element is; empty if none is off
 * @param expectedNans of the right values; with them nothing is proved
 * @param rows that were compared
 * @param file that it is written to; null for none
 */
record VerifiedOutput(
    Value output,
    Verification result,
    double element,
    String worst,
    long expectedNans,
    int rows,
    @Nullable Path file) {

  /**
   * Whether the whole and every element are near enough.
   *
   * @param widened how much more than usual elements may be off
   */
  boolean isRight(RunRequest request, double tolerance, double widened) {
    boolean accurate =
        request.absolute().isPresent()
            ? result.within(tolerance, request.absolute().getAsDouble())
            : result.within(tolerance);
    return accurate && element <= widened && expectedNans == 0;
  }

  /** One line, which names the output if there are several. */
  String verdict(boolean ok, double tolerance, double widened, boolean named) {
    String words =
        String.format(
            Locale.ROOT,
            "%s%s: relative error %.2e (at most %.0e), largest absolute error %.2e",
            ok ? "verified" : "WRONG",
            named ? " " + Names.quote(output.name()) : "",
            result.relError(),
            tolerance,
            result.maxAbsError());
    if (expectedNans > 0) {
      return words + "; the right output has " + expectedNans + " NaN, so nothing is proved";
    }
    if (result.nonFiniteMismatches() > 0) {
      return words + "; " + result.nonFiniteMismatches() + " elements are wrongly NaN or infinite";
    }
    return element <= widened
        ? words
        : words
            + String.format(
                Locale.ROOT,
                "; element %s is %.3g times as far off as it may be",
                worst,
                element / widened);
  }

  Json json(boolean ok, double widened) {
    return Json.object()
        .with("name", output.name())
        .with("features", output.features())
        .with("maxAbsError", result.maxAbsError())
        .with("relError", result.relError())
        .with("worstElement", element / widened)
        .with("checkedRows", rows)
        .with("nonFiniteMismatches", result.nonFiniteMismatches())
        .with("verified", ok)
        .with("file", file == null ? null : file.toString());
  }
}
