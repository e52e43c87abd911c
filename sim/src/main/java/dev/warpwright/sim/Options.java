package dev.warpwright.sim;

import dev.warpwright.sim.api.FloatMode;
import dev.warpwright.sim.interpret.TurnOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How an {@link Interpreter} executes.
 *
 * @param precision of float arithmetic
 * @param order of iterations that do not depend on each other (parallel, thread-bound, persistent
 *     and vectorized loops, points of tile statements), and turns of roles
 * @param seed of {@link Order#SHUFFLED}
 * @param trackUninitialised reading an element of an allocated buffer that was never written is an
 *     error; so are races of roles; slower
 * @param late stages of pipes are committed as late as allowed, and what may be under way happens
 *     as late as allowed, not at once
 */
public record Options(
    FloatMode precision, Order order, long seed, boolean trackUninitialised, boolean late) {
  /** Order of independent iterations. */
  public enum Order {
    /** In the order of the indices. */
    FORWARD,
    /** In the opposite order. */
    REVERSE,
    /** In an order by the seed. */
    SHUFFLED;

    /** The same for the rooms that take turns by it. */
    TurnOrder turns() {
      return new Turns(this);
    }
  }

  private record Turns(Order order) implements TurnOrder {
    @Override
    public boolean isForward() {
      return order == Order.FORWARD;
    }

    @Override
    public int[] of(int n, SplittableRandom random) {
      int[] numbers = new int[n];
      Arrays.setAll(numbers, i -> order == Order.REVERSE ? n - 1 - i : i);
      if (order == Order.SHUFFLED) {
        for (int i = n - 1; i > 0; i--) {
          int j = random.nextInt(i + 1);
          int swapped = numbers[i];
          numbers[i] = numbers[j];
          numbers[j] = swapped;
        }
      }
      return numbers;
    }

    @Override
    public int next(List<Integer> ready, int last, SplittableRandom random) {
      return switch (order) {
        case FORWARD -> ready.contains(last) ? last : ready.getFirst();
        case REVERSE -> ready.getLast();
        case SHUFFLED -> ready.get(random.nextInt(ready.size()));
      };
    }
  }

  /** Bit-exact, in order. */
  public static final Options EXACT = new Options(FloatMode.EXACT, Order.FORWARD, 0, false);

  /** The reference of higher precision. */
  public static final Options DOUBLE = new Options(FloatMode.DOUBLE, Order.FORWARD, 0, false);

  /** Bit-exact, everything checked. */
  public static final Options CHECKED = new Options(FloatMode.EXACT, Order.FORWARD, 0, true);

  /**
   * Options with which all is done at once that may be.
   *
   * @param precision how floats are computed
   * @param order of parallel iterations
   * @param seed of a shuffled order
   * @param trackUninitialised whether reads of elements that were never written are findings
   */
  public Options(FloatMode precision, Order order, long seed, boolean trackUninitialised) {
    this(precision, order, seed, trackUninitialised, false);
  }

  /** {@return the same with pipes and what is under way as late as allowed} */
  public Options asLateAsAllowed() {
    return new Options(precision, order, seed, trackUninitialised, true);
  }

  /**
   * {@return the same with another order of parallel iterations}
   *
   * @param newOrder of parallel iterations
   * @param newSeed of a shuffled order
   */
  public Options withOrder(Order newOrder, long newSeed) {
    return new Options(precision, newOrder, newSeed, trackUninitialised, late);
  }
}
