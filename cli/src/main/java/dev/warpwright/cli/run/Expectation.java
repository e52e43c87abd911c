package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.Model;
import dev.warpwright.compiler.Reference;
import dev.warpwright.ir.DType;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.model.function.NetworkDeviation;
import dev.warpwright.model.function.Precision;
import dev.warpwright.sim.Verification;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What the output should be, and how far honest arithmetic may be from it.
 *
 * @param values of the rows that were computed, or all that were given
 * @param deviations of the elements of the rows that were computed: {@link NetworkDeviation}
 * @param chosen which rows of the output these are; null for all
 * @param given whether the values came from a file, and are all
 * @param rows how many
 */
record Expectation(
    double[] values, double[] deviations, int @Nullable [] chosen, boolean given, int rows) {
  /** Multiply-adds that the interpreter is given; beyond, it checks a random part of the rows. */
  private static final long REFERENCE_WORK = 150_000_000L;

  /**
   * Computes it beside whatever else is done meanwhile.
   *
   * @param expected the values, if a file gives them
   * @param seed by which rows are chosen
   */
  static CompletableFuture<Expectation> begin(
      Model model,
      Precision precision,
      RunInput input,
      double @Nullable [] expected,
      long seed,
      Progress progress) {
    return CompletableFuture.supplyAsync(
        () -> of(model, precision, input, expected, seed, progress));
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
  private static Expectation of(
      Model model,
      Precision precision,
      RunInput input,
      double @Nullable [] expected,
      long seed,
      Progress progress) {
    int rows = input.rows();
    Reference reference = new Reference(model.graph());
    int affordable =
        (int) Math.clamp(REFERENCE_WORK / Math.max(1, reference.work()), 1, Integer.MAX_VALUE);
    int[] chosen =
        rows <= affordable
            ? null
            : new Random(seed).ints(0, rows).distinct().limit(affordable).sorted().toArray();
    if (chosen != null) {
      progress.say(
          expected == null
              ? "verifying %d random rows of %d, seed %d; give --expect to verify all"
                  .formatted(affordable, rows, seed)
              : "verifying all rows together, and each element of %d random rows of %d, seed %d"
                  .formatted(affordable, rows, seed));
    }
    float[] x = rows(input.values(), input.values().length / Math.max(1, rows), chosen);
    int checked = Math.min(rows, affordable);
    double[] deviations =
        NetworkDeviation.of(model.graph(), precision, checked, List.of(widen(x))).getFirst();
    return expected == null
        ? new Expectation(
            reference.outputs(checked, List.of(x)).getFirst(), deviations, chosen, false, checked)
        : new Expectation(expected, deviations, chosen, true, rows);
  }

  /** Compares these rows of an output. */
  Verification compare(float[] output, int features) {
    return Verification.compare(widen(given ? output : rows(output, features, chosen)), values);
  }

  /** Compares element by element. */
  Deviations elements(float[] output, int features) {
    double[] right = values;
    if (given && chosen != null) {
      right = new double[chosen.length * features];
      for (int i = 0; i < chosen.length; i++) {
        System.arraycopy(values, chosen[i] * features, right, i * features, features);
      }
    }
    return Verification.deviations(
        widen(rows(output, features, chosen)), right, deviations, DType.F32, false);
  }

  /** Where an element that was compared is: {@code [row, feature]}. */
  String place(long at, int features) {
    long row = at / features;
    return "[%d, %d]".formatted(chosen == null ? row : chosen[(int) row], at % features);
  }

  private static double[] widen(float[] values) {
    double[] wide = new double[values.length];
    Arrays.setAll(wide, i -> values[i]);
    return wide;
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
