package dev.warpwright.sim.interpret;

import java.util.List;
import java.util.SplittableRandom;

/** In which order things are done of which none depends on another. */
public interface TurnOrder {
  /** Whether they are done as they stand. */
  boolean isForward();

  /** The numbers 0 to n - 1 in this order. */
  public int[] of(int n, SplittableRandom random);

  /**
   * Who goes on.
   *
   * @param ready numbers of those that can, ascending
   * @param last who went on before
   */
  int next(List<Integer> ready, int last, SplittableRandom random);
}
