package dev.warpwright.measure.timing;

/**
 * In which order timed take their turns. Nobody is always first, and nobody always follows the same
 * one: what a kernel leaves behind, a clock that fell or a cache that is full, meets all of them
 * alike.
 */
public final class TimingOrder {
  private TimingOrder() {}

  /**
   * The timed' indices in the order of a round: each round begins with the next one, and every
   * second round goes backwards.
   *
   * @param round from 0
   */
  public static int[] of(int round, int timed) {
    int[] order = new int[timed];
    for (int i = 0; i < timed; i++) {
      order[i] = Math.floorMod(round + (round % 2 == 0 ? i : -i), timed);
    }
    return order;
  }
}
