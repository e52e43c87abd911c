package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.PrimFunc;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Chooses one of several numbers.
 *
 * <pre>{@code
 * sampleCategorical([2, 3, 4], [1, 2, 1])   gives 3 every other time
 * }</pre>
 *
 * <p>The function stays as it is. The choice, as an index, is recorded in the trace, so that a
 * replay makes it again, and a tuner can make another one.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>There is at least one candidate, and a weight for each.
 *   <li>No weight is negative, not all are 0, and their sum fits an {@code int}.
 *   <li>A choice that is given is the index of a candidate.
 * </ol>
 */
public final class SampleCategorical {
  private static final String NAME = "sampleCategorical";

  private SampleCategorical() {}

  /**
   * The index of the candidate.
   *
   * @param weights how likely each is, compared with the others
   * @param decision the choice if it is made already, or null
   */
  public static int apply(
      PrimFunc func,
      List<Long> candidates,
      List<Long> weights,
      @Nullable Long decision,
      RandomGenerator random) {
    Check check = new Check(NAME, func);
    check.require(
        1,
        !candidates.isEmpty() && candidates.size() == weights.size(),
        candidates.size() + " candidates with " + weights.size() + " weights",
        null);
    long sum = 0;
    for (long weight : weights) {
      check.require(
          2, weight >= 0 && weight <= Integer.MAX_VALUE - sum, "the weights " + weights, null);
      sum += weight;
    }
    check.require(2, sum > 0, "all weights are 0", null);
    if (decision != null) {
      check.require(
          3,
          decision >= 0 && decision < candidates.size(),
          "there is no candidate " + decision + " among " + candidates.size(),
          null);
      return Math.toIntExact(decision);
    }
    int at = random.nextInt((int) sum);
    int chosen = 0;
    while (at >= weights.get(chosen)) {
      at -= Math.toIntExact(weights.get(chosen));
      chosen++;
    }
    return chosen;
  }
}
