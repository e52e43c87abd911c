package dev.warpwright.cli.run;

import dev.warpwright.cli.output.Progress;
import dev.warpwright.compiler.Model;
import dev.warpwright.ir.accuracy.Deviations;
import dev.warpwright.ir.type.DType;
import dev.warpwright.model.graph.Value;
import dev.warpwright.sim.Verification;
import dev.warpwright.synthetic.NetworkDeviation;
import dev.warpwright.synthetic.Reference;
import dev.warpwright.workload.Precision;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * What the outputs should be, and how far honest arithmetic may be from it.
 *
 * @param outputs one for each of the model's
 * @param chosen the rows whose elements are judged; null for all
 */
record Expectation(List<Right> outputs, int @Nullable [] chosen) {
  /** Multiply-adds that the interpreter is given; beyond, it checks a random part of the rows. */
  private static final long REFERENCE_WORK = 150_000_000L;

  /**
   * What one output should be.
   *
   * @param values of the rows that were computed, or all that were given
   * @param deviations of the elements of the rows that were chosen: {@link NetworkDeviation}
   * @param given whether the values came from a file, and are all
   * @param rows of the values
   */
  record Right(Value output, double[] values, double[] deviations, boolean given, int rows) {}

  /**
   * Computes it beside whatever else is done meanwhile.
   *
   * @param given the values of outputs that a file gives
   * @param seed by which rows are chosen
   */
  static CompletableFuture<Expectation> begin(
      Model model,
      Precision precision,
      RunInput input,
      Map<Value, double[]> given,
      long seed,
      Progress progress) {
    return CompletableFuture.supplyAsync(() -> of(model, precision, input, given, seed, progress));
  }

  /**
   * Waits for the result.
   *
   * @throws dev.warpwright.base.UserError and whatever else computing it threw
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
      Map<Value, double[]> given,
      long seed,
      Progress progress) {
    int rows = input.rows();
    List<Value> outputs = model.graph().outputs();
    Reference reference = new Reference(model.graph());
    int affordable =
        (int) Math.clamp(REFERENCE_WORK / Math.max(1, reference.work()), 1, Integer.MAX_VALUE);
    int[] chosen =
        rows <= affordable
            ? null
            : new Random(seed).ints(0, rows).distinct().limit(affordable).sorted().toArray();
    if (chosen != null) {
      String some =
          String.format(Locale.ROOT, "%d random rows of %d, seed %d", affordable, rows, seed);
      progress.say(
          given.size() == outputs.size()
              ? "verifying all rows together, and each element of " + some
              : "verifying " + some + "; give --expect to verify all");
    }
    List<float[]> x =
        input.values().stream()
            .map(all -> rows(all, all.length / Math.max(1, rows), chosen))
            .toList();
    int checked = Math.min(rows, affordable);
    List<double[]> deviations =
        NetworkDeviation.of(
            model.graph(), precision, checked, x.stream().map(Expectation::widen).toList());
    List<double[]> computed =
        given.size() == outputs.size() ? List.of() : reference.outputs(checked, x);
    List<Right> right = new ArrayList<>();
    for (int i = 0; i < outputs.size(); i++) {
      Value output = outputs.get(i);
      double[] known = given.get(output);
      right.add(
          known == null
              ? new Right(output, computed.get(i), deviations.get(i), false, checked)
              : new Right(output, known, deviations.get(i), true, rows));
    }
    return new Expectation(right, chosen);
  }

  /**
   * Compares what came out with the output of that index, as a whole and element by element.
   *
   * @param type that the program rounds it to
   * @param file that it is written to; null for none
   */
  VerifiedOutput compare(int index, float[] result, DType type, @Nullable Path file) {
    Right right = outputs.get(index);
    int features = right.output().features();
    double[] some = widen(rows(result, features, chosen));
    double[] values = right.values();
    Verification whole = Verification.compare(right.given() ? widen(result) : some, values);
    double[] ofSome = right.given() ? rows(values, features, chosen) : values;
    Deviations elements = Verification.deviations(some, ofSome, right.deviations(), type, false);
    return new VerifiedOutput(
        right.output(),
        whole,
        elements.element(),
        elements.at() < 0 ? "" : place(elements.at(), features),
        Arrays.stream(values).filter(Double::isNaN).count(),
        right.rows(),
        file);
  }

  /** Where an element that was compared is: {@code [row, feature]}. */
  private String place(long at, int features) {
    long row = at / features;
    return String.format(
        Locale.ROOT, "[%d, %d]", chosen == null ? row : chosen[(int) row], at % features);
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

  /** The same of wide numbers. */
  private static double[] rows(double[] values, int columns, int @Nullable [] chosen) {
    if (chosen == null) {
      return values;
    }
    double[] some = new double[chosen.length * columns];
    for (int i = 0; i < chosen.length; i++) {
      System.arraycopy(values, chosen[i] * columns, some, i * columns, columns);
    }
    return some;
  }
}
