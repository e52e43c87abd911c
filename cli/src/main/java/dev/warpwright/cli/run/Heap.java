package dev.warpwright.cli.run;

import dev.warpwright.base.UserError;
import dev.warpwright.model.graph.Value;
import java.util.List;
import java.util.Locale;

/** Refuses what Java's memory cannot hold before it is tried. */
final class Heap {
  /** Elements of the longest Java array. */
  static final long LONGEST_ARRAY = Integer.MAX_VALUE - 8;

  private Heap() {}

  /**
   * Checks the memory that a run needs: input, outputs, and these and their reference as doubles.
   *
   * @throws UserError if it is more than Java may use
   */
  static void checkRun(String what, long rows, long inputFeatures, List<Value> outputs) {
    long widest = inputFeatures;
    long outputFeatures = 0;
    for (Value output : outputs) {
      widest = Math.max(widest, output.features());
      outputFeatures += output.features();
    }
    if (rows > LONGEST_ARRAY / widest) {
      throw new UserError(
          what
              + ": "
              + rows
              + " rows of "
              + widest
              + " features are more than the "
              + LONGEST_ARRAY
              + " elements of one array; run fewer rows at a time");
    }
    double needed = rows * (4.0 * inputFeatures + 20.0 * outputFeatures);
    double allowed = 0.8 * Runtime.getRuntime().maxMemory();
    if (needed > allowed) {
      throw new UserError(
          String.format(
              Locale.ROOT,
              "%s: %d rows need about %.1f GB, Java may use %.1f GB; run fewer rows, or give Java"
                  + " more with WARPWRIGHT_JAVA_OPTS=-Xmx%.0fg",
              what,
              rows,
              needed / 1e9,
              allowed / 1e9,
              Math.ceil(needed / 0.8 / (1 << 30))));
    }
  }
}
