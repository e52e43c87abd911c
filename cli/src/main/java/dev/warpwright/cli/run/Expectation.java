package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Reference;
import dev.warpwright.sim.Verification;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What the outputs should be.
 *
 * @param values of the rows that were computed, for each output
 * @param chosen which rows of the outputs these are; null for the first ones
 * @param rows how many
 */
record Expectation(List<double[]> values, int @Nullable [] chosen, int rows) {
  /** Multiply-adds that the interpreter is given; beyond, it checks a random part of the rows. */
  private static final long REFERENCE_WORK = 150_000_000L;

  /** Computes it beside whatever else is done meanwhile. */
  static CompletableFuture<Expectation> begin(Model model, RunInput input, Progress progress) {
    return CompletableFuture.supplyAsync(() -> of(model, input, progress));
  }

  /**
   * Waits for the result.
   *
   * @throws dev.warpwright.ir.UserError and whatever else computing it threw
   */
  static Expectation end(CompletableFuture<Expectation> begun) {
    try {
      return begun.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw e;
    }
  }

  /** As many rows as the interpreter can compute in a moment. */
  private static Expectation of(Model model, RunInput input, Progress progress) {
    int rows = input.rows();
    Reference reference = new Reference(model.graph());
    int affordable =
        (int) Math.clamp(REFERENCE_WORK / Math.max(1, reference.work()), 1, Integer.MAX_VALUE);
    int[] chosen =
        rows <= affordable
            ? null
            : new Random().ints(0, rows).distinct().limit(affordable).sorted().toArray();
    if (chosen != null) {
      progress.say(
          "verifying " + affordable + " random rows of " + rows + "; give --expect to verify all");
    }
    float[] x = rows(input.values(), input.values().length / Math.max(1, rows), chosen);
    int checked = Math.min(rows, affordable);
    return new Expectation(reference.outputs(checked, List.of(x)), chosen, checked);
  }

  /** Compares these rows of the output of that index. */
  Verification compare(int index, float[] output, int features) {
    return compare(rows(output, features, chosen), values.get(index));
  }

  /** Compares all rows. */
  static Verification compare(float[] output, double[] expected) {
    double[] wide = new double[output.length];
    Arrays.setAll(wide, i -> output[i]);
    return Verification.compare(wide, expected);
  }

  /** These rows of a matrix; all of them for null. */
  private static float[] rows(float[] values, int columns, int @Nullable [] chosen) {
    if (chosen == null) {
      return values;
    }
    float[] some = new float[chosen.length * columns];
    for (int i = 0; i < chosen.length; i++) {
      System.arraycopy(values, chosen[i] * columns, some, i * columns, columns);
    }
    return some;
  }
}
